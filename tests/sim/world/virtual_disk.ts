import type { Delivery } from "../../../ledger/mod.ts";
import {
  firstTimeOf,
  readRecords,
} from "../../../core/wire/delivery_records.ts";
import type {
  InboxFile,
  InboxFolder,
  KeptGroup,
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

/** What a file holds, and what it becomes by each commit. */
class Stored {
  /** What a crash leaves. */
  durable: readonly KeptGroup[] = [];
  /** Commits since the last sync, each with all that is there after it. */
  readonly commits: (readonly KeptGroup[])[] = [];
  last = 0;
  holder: Life | null;

  constructor(holder: Life) {
    this.holder = holder;
  }

  get written(): readonly KeptGroup[] {
    return this.commits.at(-1) ?? this.durable;
  }

  /** Makes the first commits durable. */
  keep(count: number): void {
    this.durable = this.commits.splice(0, count).at(-1) ?? this.durable;
  }
}

/** The disk of a spool, which outlives processes. */
export class VirtualDisk {
  readonly #files = new Map<string, Stored>();

  /** Every delivery that a crash would leave. */
  deliveries(): Delivery[] {
    return [...this.#files.values()].flatMap(({ durable }) =>
      durable.flatMap(({ bytes }) =>
        readRecords(bytes).filter((one) => "body" in one)
      )
    );
  }

  /** The disk as one process sees it. */
  open(user: DiskUser): InboxFolder {
    const { dice, life } = user;
    return {
      list: () => life.dead ? [] : [...this.#files.keys()],
      create: (name) => {
        refuseSometimes(user);
        const file = new Stored(life);
        if (!life.dead) this.#files.set(name, file);
        return handle(name, file, user);
      },
      claim: (name) => {
        const file = this.#files.get(name);
        if (file === undefined || life.dead) return null;
        if (file.holder !== null && !file.holder.dead) return null;
        if (file.holder !== null) {
          // What was not synced may be there, in the order of the commits.
          file.keep(dice.int(0, file.commits.length));
          file.commits.length = 0;
        }
        file.holder = life;
        return handle(name, file, user);
      },
      remove: (name) => void (life.dead || this.#files.delete(name)),
      setAside: (name) => void (life.dead || this.#files.delete(name)),
    };
  }
}

function refuseSometimes({ dice, faults, onFault }: DiskUser): void {
  if (!dice.chance(faults().refuses)) return;
  onFault("spool refuses");
  throw new Error("Simulated: the spool's disk is full");
}

function handle(name: string, file: Stored, user: DiskUser): InboxFile {
  const { dice, life, faults, onFault } = user;
  const commit = (groups: readonly KeptGroup[]) => {
    if (!life.dead) file.commits.push(groups);
  };
  const crashes = () => {
    if (!dice.chance(faults().crash)) return false;
    onFault("spool crash");
    life.kill();
    return true;
  };
  return {
    name,
    isDamaged: false,
    write: (groups) => {
      commit([
        ...file.written,
        ...groups.map((group) => ({ ...group, number: ++file.last })),
      ]);
      return file.last;
    },
    sync: async () => {
      const reached = file.commits.length;
      await Promise.resolve();
      if (life.dead || crashes()) return await never();
      refuseSometimes(user);
      file.keep(reached);
      if (crashes()) return await never();
    },
    kept: () => ({
      count: sum(file.written, ({ count }) => count),
      largeBytes: sum(file.written, ({ largeBytes }) => largeBytes),
      bytes: sum(file.written, ({ bytes }) => bytes.length),
    }),
    oldestMs: () => {
      const [first] = file.written;
      return first === undefined ? null : firstTimeOf(first.bytes);
    },
    // The reader frees what it gets.
    read: (after, upTo) =>
      file.written.filter(({ number }) => number > after && number <= upTo)
        .slice(0, 4).map((group) => ({ ...group, bytes: group.bytes.slice() })),
    forget: (number) =>
      commit(file.written.filter((group) => group.number > number)),
    discard: () => {},
    tidy: () => life.dead || file.keep(file.commits.length),
    close: () => {
      if (life.dead) return;
      file.keep(file.commits.length);
      file.holder = null;
    },
  };
}

function sum(
  groups: readonly KeptGroup[],
  what: (group: KeptGroup) => number,
): number {
  return groups.reduce((total, group) => total + what(group), 0);
}
