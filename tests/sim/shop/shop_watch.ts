import { check } from "../world/journal.ts";
import { purchaseOf, type Shipment } from "./shop.ts";
import type { HandWatch } from "../rules/hand_watch.ts";
import type { Snapshot } from "../rules/snapshot.ts";
import { areClocksTrue } from "../rules/true_clocks.ts";
import type { World } from "../world/world.ts";

/**
 * From a look that sees a withdrawal, a handler that was called before it has
 * this long to end: the database may dawdle and be asked again meanwhile.
 */
const handingMs = 60_000;

/** A purchase that a person handed out. */
interface Delivered {
  /** With which order. */
  readonly orderId: string;
  /** When that was seen. */
  readonly atMs: number;
}

/** Holds what the shop shipped against what was sold, paid and withdrawn. */
export class ShopWatch {
  readonly #world: World;
  readonly #purchases = new Map<string, string>();
  readonly #orders = new Set<string>();
  /** Orders whose release is withdrawn, and when that was seen. */
  readonly #withdrawn = new Map<string, number>();
  /** Orders that a person dealt with, and when that was seen. */
  readonly #byHand = new Map<string, number>();
  /** Purchases that a person handed out, by the reference named. */
  readonly #delivered = new Map<string, Delivered>();
  #seen = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /**
   * Looks at what was shipped since the last look.
   *
   * @param snapshot What was logged since then, and what persons dealt with.
   * @param byHand What persons did.
   * @throws {Broken} When something was shipped that must not be.
   */
  look(
    { transitions, byHand: dealtWith }: Snapshot,
    byHand: HandWatch,
  ): void {
    const { shop, clock } = this.#world;
    const released = new Set(
      transitions.flatMap(({ id, logged }) =>
        logged?.release === "yes" ? [id] : []
      ),
    );
    for (const shipment of shop.shipments.slice(this.#seen)) {
      this.#once(shipment);
      this.#paid(shipment);
      this.#released(shipment, released);
      this.#notByHand(shipment);
    }
    for (const orderId of dealtWith) {
      if (this.#byHand.has(orderId)) continue;
      const atMs = clock.now();
      this.#byHand.set(orderId, atMs);
      const { reference = null } = byHand.by(orderId) ?? {};
      if (reference === null) continue;
      const purchase = purchaseOf(reference, "");
      if (this.#delivered.has(purchase)) continue;
      this.#delivered.set(purchase, { orderId, atMs });
    }
    this.#seen = shop.shipments.length;
    for (const { id, logged } of transitions) {
      if (logged === null) continue;
      if (logged.release === "yes") this.#withdrawn.delete(id);
      else if (!this.#withdrawn.has(id)) {
        this.#withdrawn.set(id, clock.now());
      }
    }
  }

  #once({ orderId, purchase }: Shipment): void {
    const other = this.#purchases.get(purchase);
    check(
      "a purchase is shipped once",
      other === undefined,
      () => `${purchase} is shipped for orders ${other} and ${orderId}`,
    );
    check(
      "an order is shipped once",
      !this.#orders.has(orderId),
      () => `order ${orderId} is shipped again, as ${purchase}`,
    );
    this.#purchases.set(purchase, orderId);
    this.#orders.add(orderId);
  }

  /** What the ledger compares is held against what the shop itself knows. */
  #paid({ orderId, purchase }: Shipment): void {
    const { sandbox, shop, journal } = this.#world;
    const order = sandbox.order(orderId) ?? journal.removed.get(orderId);
    check(
      "nothing is shipped that the service never showed as paid",
      order?.history.some(({ status }) => status === "success") === true,
      () => `order ${orderId} was never a success`,
    );
    const bought = shop.orders.get(orderId);
    if (bought === undefined || shop.amended.has(orderId)) return;
    const { clickId, paid } = bought;
    const terms = shop.termsOf(purchase);
    check(
      "nothing is shipped for another basket than the one under the click id",
      terms.some((one) => one.clickId === clickId),
      () =>
        `order ${orderId}, paid under ${clickId}, is shipped as ${purchase}`,
    );
    const fitting = [...shop.purchasesOf(clickId)].filter((one) => {
      const all = shop.termsOf(one);
      return all.every(({ amount, recordedMs }) =>
        amount === paid && recordedMs !== null && recordedMs <= bought.atMs
      );
    });
    check(
      "nothing is shipped where several baskets fit what was paid",
      fitting.length < 2 || !areClocksTrue(this.#world),
      () => `order ${orderId} is shipped as ${purchase}, of ${fitting.join()}`,
    );
    // With clocks that differ nobody can say which terms came before an order.
    const counting = areClocksTrue(this.#world) &&
        terms.every((one) =>
          one.recordedMs !== null && one.recordedMs <= bought.atMs
        )
      ? terms.slice(-1)
      : terms;
    check(
      "nothing is shipped for which another amount was paid",
      counting.some(({ amount }) => amount === paid),
      () =>
        `order ${orderId} paid ${paid} and is shipped as ${purchase}, which ` +
        `costs ${counting.map(({ amount }) => amount).join(" or ")}`,
    );
  }

  #released(
    { orderId, atMs }: Shipment,
    releasedAgain: ReadonlySet<string>,
  ): void {
    const sinceMs = this.#withdrawn.get(orderId) ?? Infinity;
    check(
      "nothing is shipped after its release was withdrawn",
      atMs < sinceMs + handingMs || releasedAgain.has(orderId),
      () =>
        `order ${orderId} is shipped ${(atMs - sinceMs) / 1000} s after its ` +
        `withdrawal was logged`,
    );
  }

  /** Nobody gets from the shop what a person handed out or paid back. */
  #notByHand({ orderId, purchase, atMs }: Shipment): void {
    const sinceMs = this.#byHand.get(orderId) ?? Infinity;
    check(
      "nothing is shipped that a person delivered or refunded",
      atMs < sinceMs + handingMs,
      () =>
        `order ${orderId} is shipped ${(atMs - sinceMs) / 1000} s after a ` +
        `person dealt with it`,
    );
    const other = this.#delivered.get(purchase);
    check(
      "nothing is shipped that a person delivered with another order",
      other === undefined || other.orderId === orderId ||
        atMs < other.atMs + handingMs,
      () =>
        `${purchase} is shipped for order ${orderId}, and was delivered ` +
        `with ${other?.orderId}`,
    );
  }
}
