import {
  firstSeal,
  leafOf,
  type RecordedEvent,
  type Seal,
  sealNext,
  type SqlValue,
} from "../../../ledger/testing/mod.ts";
import { check } from "../world/journal.ts";
import type { Snapshot } from "./snapshot.ts";

/** Follows the evidence and computes it a second time. */
export class ChainWatch {
  #last: Seal | null = null;

  /** Position up to which events are sealed. */
  get position(): number {
    return this.#last?.position ?? 0;
  }

  /** Hash over all of them, in hex. */
  get hash(): string {
    return this.#last?.root.toHex() ?? "";
  }

  /**
   * Takes in the seals that are new.
   *
   * @param snapshot The evidence.
   * @param events Every event so far, with the bodies they once had.
   * @param stands The same events as they stand, where they may have been sealed so.
   * @throws {Broken} When a seal is not what the events make it.
   */
  take(
    { seals, ledgerId, position: folded }: Snapshot,
    events: readonly RecordedEvent[],
    stands: readonly RecordedEvent[] = events,
  ): void {
    let last = this.#last ?? firstSeal(ledgerId);
    for (const [position, count, root, leaves] of seals) {
      const marks = leaves as Uint8Array;
      const sealed = events.map((event, at) => [event, stands[at]] as const)
        .filter(([event]) =>
          event.position > last.position && event.position <= Number(position)
        );
      const made = sealed.map(([event, standing], at) => {
        const leaf = leafOf(event as Sealed);
        const isSame = standing === undefined ||
          hex(marks.subarray(8 * at, 8 * at + 8)) === hex(leaf.subarray(0, 8));
        return isSame ? leaf : leafOf(standing as Sealed);
      });
      const next = sealNext(
        last,
        sealed.map(([event]) => event as Sealed),
        made,
      );
      check(
        "the chain covers every event",
        next.position === position && next.events === count,
        () =>
          `the seal at ${position} says ${count} events, and there are ` +
          `${next.events} up to ${next.position}`,
      );
      check(
        "the chain is valid",
        hex(next.root) === hex(root) && hex(next.leaves) === hex(leaves),
        () => `the seal at ${position} is wrong`,
      );
      last = next;
    }
    this.#last = last;
    check(
      "the chain covers every event",
      last.position === folded,
      () => `it ends at ${last.position}, and ${folded} is folded`,
    );
  }
}

type Sealed = Parameters<typeof leafOf>[0];

function hex(value: SqlValue | undefined): string {
  return value instanceof Uint8Array ? value.toHex() : String(value);
}
