import type { Delivery } from "../../../ledger/mod.ts";
import { readRecords } from "../../../core/wire/delivery_records.ts";
import {
  markIn,
  scanSegment,
  type SegmentFile,
  type SpoolDisk,
} from "../../../webhooks/testing/mod.ts";
import type { Dice } from "./dice.ts";
import { type Life, never } from "./life.ts";

/** How often the spool goes wrong: rates from 0 to 1. */
export interface SpoolFaults {
  /** The disk takes nothing. */
  readonly refuses: number;
  /** The process crashes while it syncs, or between the ledger's taking
   * deliveries and forgetting them. */
  readonly crash: number;
}

/** What a process works on the disk with. */
export interface DiskUser {
  readonly dice: Dice;
  readonly life: Life;
  /** The faults in force. */
  readonly faults: () => SpoolFaults;
  /** Called with each fault. */
  readonly onFault: (fault: string) => void;
}

interface Stored {
  /** What a crash leaves. */
  readonly durable: Uint8Array<ArrayBuffer>;
  readonly written: Uint8Array<ArrayBuffer>;
  /** Writes since the last sync. */
  readonly pending: { readonly at: number; readonly bytes: Uint8Array }[];
  holder: Life | null;
}

/** The disk of a spool, which outlives processes. */
export class VirtualDisk {
  readonly #files = new Map<string, Stored>();

  /** Every delivery that a crash would leave. */
  deliveries(): Delivery[] {
    return [...this.#files].flatMap(([name, { durable }]) =>
      scanSegment(durable, markIn(name) ?? 0).runs.flatMap(({ from, to }) =>
        readRecords(durable.subarray(from, to)).filter((one) => "body" in one)
      )
    );
  }

  /** The disk as one process sees it. */
  open(user: DiskUser): SpoolDisk {
    const { dice, life, faults, onFault } = user;
    const step = async <T>(work: () => T): Promise<T> => {
      await Promise.resolve();
      return life.dead ? await never() : work();
    };
    const writing = <T>(work: () => T): Promise<T> =>
      step(() => {
        if (dice.chance(faults().refuses)) {
          onFault("spool refuses");
          throw new Error("Simulated: the spool's disk is full");
        }
        return work();
      });
    return {
      list: () => step(() => [...this.#files.keys()]),
      create: (name, size) =>
        writing(() => {
          const file: Stored = {
            durable: new Uint8Array(size),
            written: new Uint8Array(size),
            pending: [],
            holder: life,
          };
          this.#files.set(name, file);
          return this.#handle(file, user, writing);
        }),
      claim: (name) =>
        step(() => {
          const file = this.#files.get(name);
          if (file === undefined) return null;
          if (file.holder !== null && !file.holder.dead) return null;
          if (file.holder !== null) tear(file, dice);
          file.holder = life;
          return this.#handle(file, user, writing);
        }),
      remove: (name) =>
        step(() => {
          this.#files.delete(name);
        }),
      rename: (from, to) =>
        step(() => {
          const file = this.#files.get(from);
          if (file !== undefined) this.#files.set(to, file);
          this.#files.delete(from);
        }),
    };
  }

  #handle(
    file: Stored,
    { dice, life, faults, onFault }: DiskUser,
    writing: <T>(work: () => T) => Promise<T>,
  ): SegmentFile {
    const crashes = () => {
      if (!dice.chance(faults().crash)) return false;
      onFault("spool crash");
      life.kill();
      return true;
    };
    return {
      size: file.written.length,
      write: (bytes, at) => {
        if (life.dead) return;
        file.written.set(bytes, at);
        file.pending.push({ at, bytes: bytes.slice() });
      },
      sync: async () => {
        const reached = file.pending.length;
        if (crashes()) return await never();
        await writing(() => {
          for (const { at, bytes } of file.pending.splice(0, reached)) {
            file.durable.set(bytes, at);
          }
        });
        if (crashes()) return await never();
      },
      read: (from, to) => file.written.slice(from, to),
      close: () => {
        if (!life.dead) file.holder = null;
      },
    };
  }
}

/** Leaves some of what was not synced, as a crash does. */
function tear(file: Stored, dice: Dice): void {
  const bytes = file.pending.reduce((sum, one) => sum + one.bytes.length, 0);
  let left = Math.floor(bytes * dice.unit());
  for (const { at, bytes } of file.pending.splice(0)) {
    file.durable.set(bytes.subarray(0, left), at);
    left = Math.max(0, left - bytes.length);
  }
  file.written.set(file.durable);
}
