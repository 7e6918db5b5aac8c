/** What tells whether deliveries come. */
import type { RecordedEvent } from "../events/event.ts";
import { readFact } from "../events/read_fact.ts";
import type { Driver } from "../store/driver/driver.ts";
import { listed, read, select, statement } from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  selectEvents,
  timeOf,
} from "../store/events.ts";
import { named } from "./deliveries.ts";

/** An event, as far as it tells whether deliveries come. */
export interface DeliveryLogRow extends
  Pick<
    RecordedEvent,
    "position" | "kind" | "eventId" | "type" | "recordedAt"
  > {
  /** The delivery that was not answered in time, of a report of one. */
  readonly unansweredId: string | null;
  /**
   * Of a webhook: whether the service has shown what it names. Where it was
   * never read every webhook counts: there is nothing to hold them against.
   */
  readonly shown: boolean;
  readonly ofOrder: boolean;
  /** Of a reading: the latest webhook before it that names what it shows. */
  readonly named: Pick<RecordedEvent, "eventId" | "recordedAt"> | null;
}

/** Events of one entity that are looked through for a webhook. */
const LOOKED_THROUGH = 100;

/** Reads events after a position that are folded. */
export async function readDeliveryLog(
  driver: Driver,
  after: number,
  limit: number,
): Promise<readonly DeliveryLogRow[]> {
  const events = await selectEvents(
    driver,
    `events AS e
      WHERE e.position > ? AND e.position <= (SELECT position FROM ledger)
      ORDER BY e.position LIMIT ?`,
    ...[after, limit],
  );
  const isShown = await shownIn(driver, events);
  const before = await webhooksBefore(
    driver,
    events.filter(({ kind }) =>
      kind === "order_snapshot" || kind === "user_snapshot"
    ),
  );
  return events.map((event) => {
    const { position, kind, eventId, type, recordedAt } = event;
    return {
      ...{ position, kind, eventId, type, recordedAt },
      unansweredId: kind === "delivery_unanswered" ? unansweredOf(event) : null,
      shown: kind === "webhook" && isShown(event),
      ofOrder: (event.orderId ?? "") !== "",
      named: before.get(position) ?? null,
    };
  });
}

/** Tells of some webhooks whether the service has shown what they name. */
async function shownIn(
  driver: Driver,
  events: readonly RecordedEvent[],
): Promise<(webhook: RecordedEvent) => boolean> {
  const shownOf = (table: "orders" | "users", field: "orderId" | "userId") =>
    statement(
      `SELECT id FROM ${table}
      WHERE id IN (SELECT value FROM json_each(?)) AND shown = 1`,
      listed(new Set(events.map((event) => event[field] ?? ""))),
    );
  const [orders = [], users = [], any] = await read(driver, [
    shownOf("orders", "orderId"),
    shownOf("users", "userId"),
    statement(`SELECT EXISTS (SELECT 1 FROM orders WHERE shown = 1) OR
        EXISTS (SELECT 1 FROM users WHERE shown = 1)`),
  ]);
  const shownOrders = new Set(orders.map(([id]) => id));
  const shownUsers = new Set(users.map(([id]) => id));
  const isNothingShown = any?.[0]?.[0] !== 1;
  return ({ orderId, userId }) =>
    isNothingShown ||
    (orderId ? shownOrders.has(orderId) : shownUsers.has(userId));
}

/** The latest webhook before each reading about what it shows, by its position. */
async function webhooksBefore(
  driver: Driver,
  readings: readonly RecordedEvent[],
): Promise<ReadonlyMap<number, DeliveryLogRow["named"]>> {
  if (readings.length === 0) return new Map();
  const isOrder = ({ kind }: RecordedEvent) => kind === "order_snapshot";
  const all = await read(
    driver,
    readings.map((reading) => {
      const { position, orderId, userId } = reading;
      const owner = isOrder(reading)
        ? named("orders", orderId ?? "")
        : named("users", userId ?? "");
      return statement(
        `SELECT ${EVENT_COLUMNS} FROM mentions AS m
          CROSS JOIN events AS e ON e.position = m.position
          WHERE ${owner.sql} AND m.position < ? AND e.kind = 'webhook'
          ORDER BY m.position DESC
          LIMIT ${isOrder(reading) ? 10 : LOOKED_THROUGH}`,
        ...[...owner.args, position],
      );
    }),
  );
  return new Map(readings.map((reading, at) => {
    const webhook = eventsOf(all[at]).find(({ type, orderId }) =>
      type !== "test" && (isOrder(reading) || (orderId ?? "") === "")
    );
    const { eventId = "", recordedAt = "" } = webhook ?? {};
    return [reading.position, webhook ? { eventId, recordedAt } : null];
  }));
}

function unansweredOf(event: RecordedEvent): string | null {
  const fact = readFact(event);
  return fact.kind === "delivery_unanswered" ? fact.deliveryId : null;
}

/** When the last webhook up to a position came that names what the service shows. */
export async function readLastWebhook(
  driver: Driver,
  position: number,
): Promise<string | null> {
  for (let before = position + 1;;) {
    const events = await selectEvents(
      driver,
      `events AS e
        WHERE e.position < ? AND e.kind = 'webhook'
        ORDER BY e.position DESC LIMIT ?`,
      ...[before, LOOKED_THROUGH],
    );
    const isShown = await shownIn(driver, events);
    const last = events.find((one) =>
      one.type !== null && one.type !== "test" && isShown(one)
    );
    if (last !== undefined) return last.recordedAt;
    if (events.length < LOOKED_THROUGH) return null;
    before = events.at(-1)?.position ?? 0;
  }
}

const UNFOLDED = 1000;

/** When the oldest delivery came that is not folded yet; null where none is. */
export async function readUnfoldedSince(
  driver: Driver,
): Promise<string | null> {
  // A spool hands over late what came before others.
  const [row] = await select(
    driver,
    `SELECT min(recorded_at) FROM (SELECT recorded_at FROM events
      WHERE position > (SELECT position FROM ledger) AND kind = 'webhook'
      ORDER BY position LIMIT ${UNFOLDED})`,
  );
  return timeOf(row?.[0]);
}

/** Events among which the last reading is looked for. */
const LATE_EVENTS = 1000;

/** When the last reading among the last events was recorded; else null. */
export async function readLateReading(driver: Driver): Promise<string | null> {
  const [row] = await select(
    driver,
    `SELECT max(recorded_at) FROM (
        SELECT kind, recorded_at FROM events
        ORDER BY position DESC LIMIT ${LATE_EVENTS})
      WHERE kind IN ('order_snapshot', 'user_snapshot', 'order_absent')`,
  );
  return timeOf(row?.[0]);
}

/** Reads the position of the last event; 0 where there is none. */
export async function readLastPosition(driver: Driver): Promise<number> {
  const [row] = await select(driver, "SELECT max(position) FROM events");
  return Number(row?.[0] ?? 0);
}
