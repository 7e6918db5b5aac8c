/** What a person did about an order, what is known beside it, and the log of transitions. */
import {
  type Driver,
  readDeciding,
  select,
  selectValue,
  statement,
} from "../store/database.ts";
import { shownOf, transitionOf, TRANSITIONS } from "../projection/log.ts";
import { readEvents, timeOf } from "../store/events.ts";
import { allOf, asked, pageSize, readHash, where } from "./pages.ts";
import { readFact } from "../events/read_fact.ts";
import { type OrderFold, sharesTransfer } from "../orders/order_fold.ts";
import type { OrderReading } from "../events/readings.ts";
import type { NewEvent } from "../events/event.ts";
import type {
  KnownOfRelease,
  RecordedRelease,
} from "../releases/release_by_hand.ts";
import { lookupText, orderRows, selectRows } from "../projection/rows.ts";
import type { Entity, Transition } from "../machines/transition.ts";

/** What is folded of an order; null when the ledger has none. */
export async function readOrderFold(
  driver: Driver,
  orderId: string,
): Promise<OrderFold | null> {
  const [rows] = await readDeciding(driver, [
    selectRows("orders", "r.id = ?", orderId),
  ]);
  return orderRows(rows).get(orderId)?.fold ?? null;
}

/** What a person did about an order; null when nobody has acted on it. */
export async function readHandRelease(
  driver: Driver,
  orderId: string,
): Promise<RecordedRelease | null> {
  const hand = (await readOrderFold(driver, orderId))?.hand;
  const event = hand && await readEvent(driver, hand.eventId);
  const fact = event && readFact(event);
  if (fact?.kind !== "order_released") return null;
  const { hand: { outcome, purchase, recordedAt: at }, by, why } = fact;
  const reference = purchase?.name ?? null;
  return { outcome, by: by ?? "", why: why ?? "", for: reference, at };
}

/** The order that holds the purchase that an order waits for; null where none does. */
export async function readPurchaseHolder(
  driver: Driver,
  orderId: string,
): Promise<string | null> {
  return await selectValue(
    driver,
    `SELECT h.id FROM orders AS o
      JOIN purchases AS w ON w.no = o.no AND w.held = 0
      JOIN purchases AS p ON p.name = w.name AND p.held > 0
      JOIN orders AS h ON h.no = p.no WHERE o.id = ? AND h.no <> o.no
      ORDER BY p.held DESC, p.since DESC LIMIT 1`,
    orderId,
  ) as string | null;
}

/** Reads what is known beside an order of which a person records something. */
export async function readKnownOfRelease(
  driver: Driver,
  orderId: string,
  reference: string | null,
): Promise<KnownOfRelease> {
  const hash = await readHash(driver);
  const [begun, recorded] = await readDeciding(driver, [
    statement(
      `SELECT h.name, e.recorded_at FROM handed AS h
        JOIN orders AS o ON o.no = h.no LEFT JOIN log AS t ON t.seq = h.seq
        LEFT JOIN events AS e ON e.position = t.position
        WHERE o.id = ? AND h.state <> 'parked'
        ORDER BY h.seq, h.name LIMIT 1`,
      orderId,
    ),
    statement(
      "SELECT EXISTS (SELECT 1 FROM expected WHERE reference = ?)",
      reference === null ? null : hash.of("asked_reference", reference),
    ),
  ]);
  const [name, at] = begun?.[0] ?? [];
  return {
    isRecorded: recorded?.[0]?.[0] === 1,
    sentTo: name === undefined
      ? null
      : { name: String(name), at: timeOf(at) ?? "an unknown time" },
  };
}

/** What the service shows of other orders with the same transaction and address. */
export async function readSharing(
  driver: Driver,
  orderId: string,
  shown: OrderReading,
): Promise<readonly OrderReading[]> {
  const text = lookupText("tx", shown.txId ?? "");
  const [rows] = await readDeciding(driver, [
    selectRows(
      "orders",
      `r.id <> ? AND r.no IN
        (SELECT no FROM lookup WHERE hash = ? AND shown = 1)`,
      orderId,
      (await readHash(driver)).of("tx", text),
    ),
  ]);
  return [...orderRows(rows).values()].flatMap(({ fold: { latest } }) =>
    latest !== null && sharesTransfer(shown, latest) ? [latest] : []
  );
}

/** Whether exactly this event is stored under its id. */
export async function isStored(
  driver: Driver,
  { eventId, digest }: Pick<NewEvent, "eventId" | "digest">,
): Promise<boolean> {
  return (await readEvent(driver, eventId))?.digest === digest;
}

async function readEvent(driver: Driver, eventId: string) {
  const from = "events AS e WHERE e.id = ?";
  return (await readEvents(driver, from, eventId)).at(0);
}

/** Which transitions to read. */
export interface TransitionQuery {
  /** Only those of orders, or of users. */
  readonly entity?: Entity;
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

export async function readTransitions(
  driver: Driver,
  { entity, id, after = 0, limit }: TransitionQuery = {},
): Promise<Transition[]> {
  const { sql, args } = allOf([
    where("t.seq > ?", after),
    ...asked(entity, (one) => where("t.no % 2 = ?", one === "user" ? 1 : 0)),
    ...asked(id, (one) =>
      where(
        `t.no IN (SELECT no FROM orders WHERE id = ?
          UNION ALL SELECT no FROM users WHERE id = ?)`,
        ...[one, one],
      )),
  ]);
  const rows = await select(
    driver,
    `SELECT ${TRANSITIONS} WHERE ${sql} ORDER BY t.seq LIMIT ?`,
    ...[...args, pageSize(limit)],
  );
  return rows.map((row) => shownOf(transitionOf(row)));
}

/** Reads the `seq` of the last transition; 0 before the first. */
export async function readLastSeq(driver: Driver): Promise<number> {
  return Number(await selectValue(driver, "SELECT max(seq) FROM log"));
}
