import type { OrderState, Transition } from "../../../ledger/mod.ts";
import { orderRelease } from "../../../ledger/testing/mod.ts";
import { check } from "../world/journal.ts";
import type { HandWatch } from "./hand_watch.ts";
import type { Snapshot } from "./snapshot.ts";

/** Holds the release log against the states, after every look. */
export class ReleaseWatch {
  /** The last entry of each order. */
  readonly #last = new Map<string, Transition>();
  /** Orders that were released for the first time. */
  readonly #released = new Set<string>();

  /**
   * Takes the transitions since the last look, and compares.
   *
   * @param transitions Those since the last look.
   * @param orders Every order.
   * @param byHand What persons did.
   * @throws {Broken} When log and states disagree.
   */
  compare(
    transitions: readonly Transition[],
    orders: Snapshot["orders"],
    byHand: HandWatch,
  ): void {
    for (const entry of transitions) this.#add(entry, byHand);
    const purchases = new Map<string, string>();
    for (const { id, stored: { fold }, state } of orders) {
      const { release, releaseReason } = JSON.parse(state) as OrderState;
      const decided = orderRelease(fold, { assets: "sandbox" });
      const last = this.#last.get(id)?.logged ?? null;
      if (decided === null || last === null) {
        check(
          "the release log begins with the first success",
          decided === null && last === null,
          () => `order ${id}: ${last?.entered} is logged, ${decided?.release}`,
        );
        continue;
      }
      const isTwice = last.reason === "paid_twice";
      check(
        "the last logged release is that of the state",
        isTwice
          ? release === "yes"
          : last.release === release && last.reason === releaseReason,
        () =>
          `order ${id}: ${last.release} ${last.reason} is logged, and its ` +
          `state says ${release} ${releaseReason}`,
      );
      if (last.release !== "yes" || decided.purchase === null) continue;
      const purchase = `${decided.purchase.kind} ${decided.purchase.name}`;
      const other = purchases.get(purchase);
      check(
        "a purchase is released once",
        other === undefined,
        () => `orders ${other} and ${id} are released for ${purchase}`,
      );
      purchases.set(purchase, id);
    }
  }

  #add(entry: Transition, byHand: HandWatch): void {
    const { id, logged, reverses, key, position } = entry;
    if (logged === null) return;
    const isReleased = this.#released.has(id);
    const hand = byHand.by(id, position);
    check(
      "what a person delivered or refunded is not released again",
      logged.release !== "yes" || hand === null,
      () => `${key} comes after it was recorded as ${hand?.outcome}`,
    );
    const isGiven = isReleased || hand?.outcome === "delivered";
    const takesBack = logged.release === "settled"
      ? isReleased && logged.reason !== "delivered"
      : logged.release !== "yes" && isGiven;
    check(
      "a release that is withdrawn says so",
      reverses.includes("yes") === takesBack,
      () => `${key} takes back ${JSON.stringify(reverses)}`,
    );
    check(
      "a release is yes once, and then restored",
      logged.release !== "yes" ||
        (logged.entered === "restored") === isReleased,
      () => `${key} comes ${isReleased ? "after" : "without"} a yes`,
    );
    if (logged.release === "yes") this.#released.add(id);
    this.#last.set(id, entry);
  }
}
