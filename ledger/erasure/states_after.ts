import { readPrimary } from "../store/driver/read_primary.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { foldOrder, foldUser } from "../explain/as_of.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { ExpectationPool } from "../orders/expectation_pool.ts";
import { expectationWindow } from "../orders/expectations.ts";
import { orderLinkRows } from "../projection/order_link_rows.ts";
import { orderRow, userRow } from "../projection/codec/rows.ts";
import { OrderLinks } from "../events/links.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  erasableEvents,
  selectErasableAt,
  selectErasableOfOrders,
  selectErasableOfUsers,
} from "../store/tables/erasure/erasable_events.ts";
import { selectExpectationPositions } from "../store/tables/events/expectations.ts";
import { insertOrderLinks } from "../store/tables/events/links.ts";
import { upsertOrders } from "../store/tables/orders.ts";
import { upsertUsers } from "../store/tables/users.ts";
import type { Redaction } from "./redact_event.ts";

/** What states are made of. */
export interface StatesAfterOptions extends ResolveOptions {
  /** Orders whose states are made anew. */
  readonly orderIds: readonly string[];
  /** Users whose states are made anew. */
  readonly userIds: readonly string[];
  /** What was redacted. */
  readonly redacted: readonly Redaction[];
  /** Position of the last event that was folded. */
  readonly position: number;
  /** Which set of states. */
  readonly generation: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

/**
 * Folds orders and users anew, from the events as they are after the
 * redaction.
 *
 * @param options Which ones, and what was redacted.
 * @returns The statements that store the states.
 */
export async function statesAfter(
  driver: Driver,
  options: StatesAfterOptions,
): Promise<Statement[]> {
  const { orderIds, userIds, redacted, position, generation, readFact } =
    options;
  const blanked = new Map(
    redacted.map((one) => [one.blanked.position, one.blanked]),
  );
  const factsNow = (events: readonly RecordedEvent[]): Fact[] =>
    events.map((event) => readFact(blanked.get(event.position) ?? event));
  const [ofOrders, ofUsers] = await readPrimary(driver, [
    selectErasableOfOrders(orderIds, position),
    selectErasableOfUsers(userIds, position),
  ]);
  const kept = redacted.flatMap((one) =>
    one.retained === null ? [] : [readFact({ ...one.retained, position })]
  );
  const facts = Map.groupBy(
    [...factsNow(erasableEvents(ofOrders).map(({ event }) => event)), ...kept],
    ({ orderId }) => orderId ?? "",
  );
  const links = new Map(orderIds.map((orderId) => {
    const all = new OrderLinks();
    for (const fact of facts.get(orderId) ?? []) all.add(fact);
    return [orderId, all];
  }));
  const folded = orderIds.flatMap((orderId): OrderFold[] => {
    const own = facts.get(orderId) ?? [];
    return own.length === 0 ? [] : [foldOrder(orderId, own)];
  });
  const expected = new ExpectationPool();
  for (const fact of factsNow(await readExpectations(driver, folded))) {
    if (isExpectation(fact)) expected.add(fact.expectation);
  }
  const folds = folded.map((fold) => expected.join(fold));
  const users = Map.groupBy(
    factsNow(erasableEvents(ofUsers).map(({ event }) => event)),
    ({ userId }) => userId ?? "",
  );
  const userFolds = userIds.flatMap((userId) => {
    const own = users.get(userId);
    return own === undefined ? [] : [foldUser(userId, own)];
  });
  return [
    upsertOrders(generation, folds.map((fold) => orderRow(fold, options))),
    upsertUsers(generation, userFolds.map(userRow)),
    insertOrderLinks(
      generation,
      folds.flatMap((fold) =>
        orderLinkRows(fold, links.get(fold.orderId), true)
      ),
    ),
  ];
}

/**
 * What the partner expects of orders. More than they keep, because some of it
 * may be redacted now.
 */
async function readExpectations(
  driver: Driver,
  folds: readonly OrderFold[],
): Promise<RecordedEvent[]> {
  const windows = folds.flatMap((fold) => expectationWindow(fold) ?? []);
  if (windows.length === 0) return [];
  const [found] = await readPrimary(driver, [
    selectExpectationPositions(windows, { earlier: true }),
  ]);
  const positions = found?.rows.map(([position]) => position as number) ?? [];
  const [events] = await readPrimary(driver, [selectErasableAt(positions)]);
  return erasableEvents(events).map(({ event }) => event);
}
