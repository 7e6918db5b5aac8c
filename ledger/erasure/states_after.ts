import { readPrimary } from "../store/driver/read_primary.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { foldOrder, foldUser } from "../explain/as_of.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { beganBy } from "../orders/sessions.ts";
import { orderRow, userRow } from "../projection/codec/rows.ts";
import { OrderLinks } from "../projection/links.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  erasableEvents,
  selectErasableAt,
  selectErasableOfOrders,
  selectErasableOfUsers,
  selectSessionPositions,
} from "../store/tables/erasure/erasable_events.ts";
import { insertOrderLinks } from "../store/tables/links.ts";
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
    one.kept === null ? [] : [readFact({ ...one.kept, position })]
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
  const sessions = await readSessions(driver, links);
  const folds = orderIds.flatMap((orderId): OrderFold[] => {
    const own = facts.get(orderId) ?? [];
    if (own.length === 0) return [];
    const linked = [...links.get(orderId)?.all.keys() ?? []].flatMap((key) =>
      factsNow(sessions.get(key) ?? [])
    );
    return [foldOrder(orderId, [...own, ...linked])];
  });
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
    insertOrderLinks(generation, folds.flatMap((fold) => linksOf(fold, links))),
  ];
}

/** Sessions under the links of orders, by link. */
async function readSessions(
  driver: Driver,
  links: ReadonlyMap<string, OrderLinks>,
): Promise<ReadonlyMap<string, readonly RecordedEvent[]>> {
  const pairs = [...links.values()].flatMap(({ all }) => [...all.values()])
    .map(({ kind, link }) => [kind, link] as const);
  const [found] = await readPrimary(driver, [selectSessionPositions(pairs)]);
  const rows = found?.rows ?? [];
  const [events] = await readPrimary(driver, [
    selectErasableAt(rows.map((row) => row[2] as number)),
  ]);
  const byPosition = new Map(
    erasableEvents(events).map(({ event }) => [event.position, event]),
  );
  const sessions = new Map<string, RecordedEvent[]>();
  for (const [kind, link, position] of rows) {
    const event = byPosition.get(position as number);
    const key = `${kind}:${link}`;
    if (event === undefined) continue;
    sessions.set(key, [...sessions.get(key) ?? [], event]);
  }
  return sessions;
}

function linksOf(
  fold: OrderFold,
  links: ReadonlyMap<string, OrderLinks>,
) {
  const { orderId } = fold;
  const began = beganBy(fold) ?? "";
  return [...links.get(orderId)?.all.values() ?? []].map(({ kind, link }) => ({
    kind,
    link,
    orderId,
    beganBy: kind === "click" ? began : "",
  }));
}
