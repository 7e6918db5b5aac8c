import { LedgerError } from "./driver/errors.ts";

export interface GroupCommitOptions {
  /** Most events in a transaction of several callers. @default 512 */
  readonly maxEvents?: number;
  /** Most bytes of bodies in one. @default 1 MiB */
  readonly maxBytes?: number;
  /** Most bytes of bodies that may wait; then `overloaded`. @default 64 MiB */
  readonly maxWaitingBytes?: number;
}

interface Waiting<Item> {
  readonly items: readonly Item[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets concurrent callers share one transaction and one sync of the disk. The
 * next group gathers while a commit runs. The events of one caller are
 * committed together, and each caller gets its own result.
 */
export class GroupCommit<Item extends { readonly body: Uint8Array }> {
  readonly #commit: (items: readonly Item[]) => Promise<void>;
  readonly #limits: Required<GroupCommitOptions>;
  #waiting: Waiting<Item>[] = [];
  #waitingBytes = 0;
  #running: Promise<void> | null = null;

  constructor(
    commit: (items: readonly Item[]) => Promise<void>,
    {
      maxEvents = 512,
      maxBytes = 1 << 20,
      maxWaitingBytes = 64 << 20,
    }: GroupCommitOptions = {},
  ) {
    this.#commit = commit;
    this.#limits = { maxEvents, maxBytes, maxWaitingBytes };
  }

  /** Resolves after the commit that holds `items`. */
  append(items: readonly Item[]): Promise<void> {
    if (items.length === 0) return Promise.resolve();
    let bytes = 0;
    for (const { body } of items) bytes += body.byteLength;
    if (
      this.#waitingBytes > 0 &&
      this.#waitingBytes + bytes > this.#limits.maxWaitingBytes
    ) {
      return Promise.reject(
        new LedgerError(
          "overloaded",
          `Too much waits to be written: ${this.#waitingBytes} bytes; ` +
            "nothing was written, try again later",
        ),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, bytes, resolve, reject });
      this.#waitingBytes += bytes;
      this.#running ??= this.#run();
    });
  }

  /** Resolves when nothing is waiting. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    // One turn later, so that simultaneous callers share the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#settle(this.#nextGroup());
    this.#running = null;
  }

  #nextGroup(): Waiting<Item>[] {
    const { maxEvents, maxBytes } = this.#limits;
    let [events, bytes, size] = [0, 0, 0];
    for (const entry of this.#waiting) {
      events += entry.items.length;
      bytes += entry.bytes;
      if (size > 0 && (events > maxEvents || bytes > maxBytes)) {
        break;
      }
      size++;
    }
    const group = this.#waiting.slice(0, size);
    this.#waiting = this.#waiting.slice(size);
    return group;
  }

  /** Never rejects: every entry of the group gets its own result. */
  async #settle(group: readonly Waiting<Item>[]): Promise<void> {
    try {
      await this.#commit(group.flatMap((entry) => entry.items));
    } catch (error) {
      const poisoned = error instanceof TypeError ||
        (error instanceof LedgerError && error.code === "constraint");
      if (poisoned && group.length > 1) {
        // The events of one caller were refused. The other callers must succeed.
        const half = group.length >> 1;
        await this.#settle(group.slice(0, half));
        await this.#settle(group.slice(half));
        return;
      }
      for (const entry of group) this.#done(entry, () => entry.reject(error));
      return;
    }
    for (const entry of group) this.#done(entry, entry.resolve);
  }

  #done(entry: Waiting<Item>, settle: () => void): void {
    this.#waitingBytes -= entry.bytes;
    settle();
  }
}
