import type { AppendDelivery, Delivery } from "../../../ledger/mod.ts";
import type { Spool } from "../../../webhooks/mod.ts";
import type { Dice } from "./dice.ts";
import { type Life, never } from "./life.ts";

/** How often the spool goes wrong: rates from 0 to 1. */
export interface SpoolFaults {
  /** It takes nothing. */
  readonly refuses: number;
  /** The process crashes between the ledger's taking one and forgetting it. */
  readonly crash: number;
}

/** What a spool works with. */
export interface DurableSpoolOptions {
  /** What survives crashes, oldest first. */
  readonly disk: Delivery[];
  readonly dice: Dice;
  readonly life: Life;
  /** The faults in force. */
  readonly faults: () => SpoolFaults;
  /** Told of each fault. */
  readonly count: (fault: string) => void;
}

/** A spool on a disk that outlives the process, without the disk. */
export class DurableSpool implements Spool {
  readonly #options: DurableSpoolOptions;

  constructor(options: DurableSpoolOptions) {
    this.#options = options;
  }

  get depth(): number {
    return this.#options.disk.length;
  }

  get bytes(): number {
    return this.#options.disk.reduce((sum, { body }) => sum + body.length, 0);
  }

  async put(delivery: Delivery): Promise<void> {
    const { disk, dice, life, faults, count } = this.#options;
    await Promise.resolve();
    if (life.dead) return await never();
    if (dice.chance(faults().refuses)) {
      count("spool refuses");
      throw new Error("Simulated: the spool's disk is full");
    }
    disk.push(delivery);
  }

  async drain(
    append: AppendDelivery,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    const { disk, dice, life, faults, count } = this.#options;
    let taken = 0;
    while (options.signal?.aborted !== true) {
      const [first] = disk;
      if (first === undefined) break;
      await append(first);
      if (life.dead) return await never();
      if (dice.chance(faults().crash)) {
        count("spool crash");
        life.kill();
        return await never();
      }
      disk.splice(disk.indexOf(first), 1);
      taken++;
    }
    return taken;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
