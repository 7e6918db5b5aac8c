import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { foldOrder, foldUser } from "../explain/as_of.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { JoinedFacts } from "../orders/joined_facts.ts";
import { expectationWindow } from "../orders/expectations.ts";
import { orderLinkRows } from "../projection/fold_batch.ts";
import { orderRow, userRow } from "../projection/codec/rows.ts";
import { expectationLinks, OrderLinks } from "../events/links.ts";
import {
  erasableEvents,
  selectErasableAt,
  selectErasableOfOrders,
  selectErasableOfUsers,
  selectOrdersOfLinks,
} from "../store/tables/erasure/erasable_events.ts";
import { selectExpectationPositions } from "../store/tables/events/expectations.ts";
import { insertOrderLinks } from "../store/tables/events/links.ts";
import { upsertOrders } from "../store/tables/orders.ts";
import { upsertUsers } from "../store/tables/users.ts";
import type { Redaction } from "./redact_event.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import { readWitnessRules } from "../expectations/witness_requirement.ts";
import { readFact } from "../events/read_fact.ts";
import { isSameId } from "./erased_names.ts";
import type { PersonEvents } from "./person_events.ts";

/** What states are computed from. */
export interface StatesAfterOptions extends ResolveOptions {
  /** Orders whose states are computed anew. */
  readonly orderIds: readonly string[];
  /** Users whose states are computed anew. */
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
  const joined = new JoinedFacts();
  for (const fact of factsNow(await readExpectations(driver, folded))) {
    joined.add(fact);
  }
  for (const rule of await readWitnessRules(driver, readFact)) {
    if (rule.position <= position) joined.add(rule);
  }
  const folds = folded.map((fold) => joined.join(fold));
  const placeOf = (own: readonly Fact[] | undefined) =>
    Math.min(...(own ?? []).map((fact) => fact.position));
  const users = Map.groupBy(
    factsNow(erasableEvents(ofUsers).map(({ event }) => event)),
    ({ userId }) => userId ?? "",
  );
  const userFolds = userIds.flatMap((userId) => {
    const own = users.get(userId);
    return own === undefined ? [] : [foldUser(userId, own)];
  });
  return [
    upsertOrders(
      generation,
      folds.map((fold) =>
        orderRow(fold, { ...options, place: placeOf(facts.get(fold.orderId)) })
      ),
    ),
    upsertUsers(
      generation,
      userFolds.map((fold) => userRow(fold, placeOf(users.get(fold.userId)))),
    ),
    ...insertOrderLinks(
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

/** Orders and other users whose states the blanked events had a part in. */
export async function touchedBy(
  driver: Driver,
  { userId, orderIds, events }: Pick<PersonEvents, "orderIds" | "events"> & {
    readonly userId: string | null;
  },
): Promise<{ orderIds: string[]; userIds: string[] }> {
  const orders = new Set(orderIds);
  const users = new Set<string>();
  const links: [string, string][] = [];
  for (const { event } of events) {
    if (event.orderId !== null) orders.add(event.orderId);
    if (event.userId !== null && !isSameId(event.userId, userId)) {
      users.add(event.userId);
    }
    if (!isExpectationKind(event.kind)) continue;
    const fact = readFact(event);
    if (!isExpectation(fact)) continue;
    for (const { kind, link } of expectationLinks(fact.expectation)) {
      links.push([kind, link]);
    }
  }
  const [linked] = await readPrimary(driver, [selectOrdersOfLinks(links)]);
  for (const [, , orderId] of linked?.rows ?? []) orders.add(String(orderId));
  return { orderIds: [...orders], userIds: [...users] };
}
