import type { Driver } from "../store/driver/driver.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { ExpectationFact, Fact } from "../events/fact.ts";
import { readWitnessRules } from "../expectations/witness_requirement.ts";
import { placeRedacted, readExpectations } from "./order_facts.ts";
import { compareTimes } from "../events/time.ts";
import { recordedEvent } from "../store/tables/events/event_rows.ts";
import {
  selectEventsOfOrders,
  selectOrderIdsUpTo,
} from "../store/tables/events/events.ts";
import { type OrderInContext, orderOf } from "../attention/attention.ts";
import type { OrderState } from "../states/order_state.ts";
import { selectContextsAt } from "../store/tables/order_context.ts";

/** Orders whose context is read at once. */
const PAGE = 200;

/**
 * What was known: the events up to a position, which nothing changes later, or
 * those recorded up to a time, to which an event that waited elsewhere is added
 * when it comes.
 */
export type AsOf =
  | {
    /** Position of the last event. */
    readonly position: number;
  }
  | {
    /** UTC ISO 8601 with milliseconds. */
    readonly time: string;
  };

/** What was known of one order. */
export interface OrderFactsAt {
  /** The order. */
  readonly orderId: string;
  /** Its facts and what the partner expects of it, by position; never empty. */
  readonly facts: readonly Fact[];
}

/** How to read orders as of then. */
export interface OrdersAtOptions {
  /** What was known. */
  readonly asOf: AsOf;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Stops between two pages. */
  readonly signal?: AbortSignal;
}

/**
 * Walks over all orders as they were known, by order id. It reads events, not
 * read models, so that none is missed while others append and fold.
 */
export async function* readOrdersAt(
  driver: Driver,
  { asOf, readFact, signal }: OrdersAtOptions,
): AsyncGenerator<OrderFactsAt> {
  const position = "position" in asOf ? asOf.position : Number.MAX_SAFE_INTEGER;
  const isKnown = (fact: Fact) =>
    "position" in asOf
      ? fact.position <= asOf.position
      : compareTimes(fact.recordedAt, asOf.time) <= 0;
  for (let after = "";;) {
    signal?.throwIfAborted();
    const [ids] = await driver.batch(
      [selectOrderIdsUpTo(position, { after, limit: PAGE })],
      "read",
    );
    const orderIds = ids?.rows.map(([id]) => id as string) ?? [];
    const last = orderIds.at(-1);
    if (last === undefined) return;
    after = last;
    const [events] = await driver.batch(
      [selectEventsOfOrders(orderIds, position)],
      "read",
    );
    const own = new Map<string, Fact[]>();
    for (const row of events?.rows ?? []) {
      const event = recordedEvent(row);
      if (event.orderId === null) continue;
      const fact = readFact(event);
      const facts = own.get(event.orderId);
      if (facts === undefined) own.set(event.orderId, [fact]);
      else facts.push(fact);
    }
    for (const [orderId, facts] of own) {
      const known = placeRedacted(facts).filter(isKnown);
      if (known.length === 0) own.delete(orderId);
      else own.set(orderId, known);
    }
    const expected = await readExpectations(driver, own, readFact);
    const rules = (await readWitnessRules(driver, readFact)).filter(isKnown);
    for (const orderId of orderIds) {
      const facts = own.get(orderId);
      if (facts === undefined) continue;
      const all = [
        ...facts,
        ...expectedOf(facts, expected.filter(isKnown)),
        ...rules,
      ];
      yield { orderId, facts: all.sort((a, b) => a.position - b.position) };
    }
  }
}

/** What is expected of an order among what is expected of several. */
function expectedOf(
  facts: readonly Fact[],
  expected: readonly ExpectationFact[],
): ExpectationFact[] {
  const clicks = new Set(facts.map(({ clickId }) => clickId));
  const references = new Set(
    expected.filter(({ expectation: { clickId } }) => clicks.has(clickId))
      .map(({ expectation: { reference } }) => reference),
  );
  return expected.filter(({ expectation: { clickId, reference } }) =>
    clicks.has(clickId) || (reference !== null && references.has(reference))
  );
}

/**
 * Finds what was known of orders besides their states: whether another order
 * had their purchase then, and whether anything was recorded to compare them
 * with.
 *
 * @param orders States by what was known then.
 * @param asOf When.
 * @throws {LedgerError} When the database fails.
 */
export async function inContextAt<Order extends OrderState>(
  driver: Driver,
  orders: readonly Order[],
  asOf: AsOf,
): Promise<(Order & Required<Pick<OrderInContext, "context">>)[]> {
  const ids = orders.map(({ orderId }) => orderId);
  const [found] = await driver.batch([selectContextsAt(ids, asOf)], "read");
  const rows = new Map(
    found?.rows.map(([id, ...row]) => [id as string, row]),
  );
  return orders.map((order) => orderOf(order, rows.get(order.orderId) ?? []));
}
