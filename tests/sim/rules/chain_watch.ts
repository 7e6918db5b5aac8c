import {
  commitmentOf,
  genesisHash,
  linkHash,
  type RecordedEvent,
  type SqlValue,
} from "../../../ledger/testing/mod.ts";
import { check } from "../world/journal.ts";
import type { Snapshot } from "./snapshot.ts";

/** Follows an evidence chain and computes it a second time. */
export class ChainWatch {
  #chained = 0;
  #hash: Uint8Array | null = null;

  /** Links seen so far. */
  get chained(): number {
    return this.#chained;
  }

  /** Hash of the last of them, in hex. */
  get hash(): string {
    return this.#hash?.toHex() ?? "";
  }

  /**
   * Takes in the links that are new.
   *
   * @param snapshot The chain.
   * @param events Every event so far, with the bodies they once had.
   * @throws {Broken} When a link is not what the events make it.
   */
  take(
    { links, head, ledgerId }: Snapshot,
    events: readonly RecordedEvent[],
  ): void {
    this.#hash ??= genesisHash({ environment: "sandbox", ledgerId });
    for (const [position, commitment, hash] of links) {
      const event = events[this.#chained];
      check(
        "the chain covers every event",
        event?.position === position,
        () =>
          `it goes on at ${position}, the next event is at ${event?.position}`,
      );
      if (event === undefined) return;
      const expected = commitmentOf(event);
      this.#hash = linkHash(this.#hash, position as number, expected);
      check(
        "the chain is valid",
        hex(expected) === hex(commitment) && hex(this.#hash) === hex(hash),
        () => `the link at ${position} is wrong`,
      );
      this.#chained++;
    }
    if (head === undefined) return;
    check(
      "the chain is valid",
      head[1] === this.#chained && head[2] === hex(this.#hash ?? undefined),
      () => `its head says ${head[1]} events, ${this.#chained} are linked`,
    );
  }
}

function hex(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? value.toHex() : String(value);
}
