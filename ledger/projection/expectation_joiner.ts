import type { Expectation } from "../events/expectation.ts";
import { isExpectation } from "../events/fact.ts";
import { expectationLinks, linkKey } from "../events/links.ts";
import { ExpectationPool } from "../orders/expectation_pool.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { compareText } from "../machines/sorted_list.ts";
import type { BatchEvent, LoadedStates } from "./batch.ts";

/**
 * Finds which expectations and orders of a batch lead to each other, event by
 * event: what an event joins is known at its position, before a later event.
 */
export class ExpectationJoiner {
  readonly #known: LoadedStates;
  /** Whether anything is expected of an order of the batch. */
  readonly #any: boolean;
  readonly #pool = new ExpectationPool();
  /** Orders of the batch so far, by what an expectation finds them by. */
  readonly #orders = new Map<string, Set<string>>();

  /**
   * @param events The batch.
   * @param known What is known before it.
   */
  constructor(events: readonly BatchEvent[], known: LoadedStates) {
    this.#known = known;
    this.#any = known.expectations.length > 0 ||
      events.some(({ fact }) => isExpectation(fact));
    for (const expectation of known.expectations) this.#pool.add(expectation);
  }

  /**
   * Joins an order with what is expected of it so far.
   *
   * @param order Folded facts of the order.
   */
  join(order: OrderFold): OrderFold {
    if (!this.#any) return order;
    const joined = this.#pool.join(order);
    const { orderId, latest, expectations } = joined;
    const add = (clickId: string | null, reference: string | null) => {
      for (const link of expectationLinks({ clickId, reference })) {
        const key = linkKey(link);
        const ids = this.#orders.get(key) ?? new Set();
        this.#orders.set(key, ids.add(orderId));
      }
    };
    if (latest?.clickId) add(latest.clickId, null);
    for (const { reference } of expectations) add(null, reference);
    return joined;
  }

  /**
   * Takes in an expectation of the batch.
   *
   * @param expectation What the partner expects.
   * @returns The orders that it may concern, each once, by id: the first of
   * them takes the purchase, whatever the batches.
   */
  ordersOf(expectation: Expectation): readonly string[] {
    this.#pool.add(expectation);
    const orders = new Set<string>();
    for (const link of expectationLinks(expectation)) {
      const key = linkKey(link);
      for (const id of this.#known.linkedOrders.get(key) ?? []) orders.add(id);
      for (const id of this.#orders.get(key) ?? []) orders.add(id);
    }
    return [...orders].sort(compareText);
  }
}
