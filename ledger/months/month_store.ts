/** The events of closed months, and the facts of orders that books are made of. */
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import type { MonthClose } from "./month_close.ts";
import { type MonthStore, readMonthAt as readAt } from "./stored_months.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { selectRules } from "../projection/anew.ts";
import { selectExpected } from "../projection/expected.ts";
import { windowsOf } from "../reads/explain.ts";
import { readHash } from "../reads/names.ts";
import { readDeciding, statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";

/** Orders read at once. */
const PAGE = 200;

/** Reads the positions of the closed months; a month keeps its position. */
export async function readMonthPositions(driver: Driver): Promise<number[]> {
  const [rows] = await readDeciding(driver, [
    statement(
      `SELECT e.position FROM events AS e
        WHERE e.kind = 'month_closed' AND e.${IS_RARE} ORDER BY e.position`,
    ),
  ]);
  return (rows ?? []).map(([position]) => Number(position));
}

/** Reads the closed month at a position; null when none is there. */
export function readMonthAt(
  driver: Driver,
  position: number,
): Promise<MonthClose | null> {
  return readAt({
    at: (at) => readEvent(driver, "e.position = ?", at),
  }, position);
}

async function readEvent(
  driver: Driver,
  where: string,
  arg: SqlValue,
): Promise<RecordedEvent | null> {
  const [rows] = await readDeciding(driver, [
    statement(`SELECT ${EVENT_COLUMNS} FROM events AS e WHERE ${where}`, arg),
  ]);
  return eventsOf(rows)[0] ?? null;
}

/**
 * Events and orders of a database.
 *
 * @param folded Folds what waits: only what is folded is booked.
 */
export function monthStore(
  driver: Driver,
  { readFact, folded }: {
    readonly readFact: (event: RecordedEvent) => Fact;
    readonly folded: () => Promise<unknown>;
  },
): MonthStore {
  const numbers = async (sql: string, ...args: SqlValue[]) => {
    const [rows] = await readDeciding(driver, [statement(sql, ...args)]);
    return (rows?.[0] ?? []).map(Number);
  };
  return {
    positions: () => readMonthPositions(driver),
    at: (position) => readEvent(driver, "e.position = ?", position),
    withId: (eventId) => readEvent(driver, "e.id = ?", eventId),
    head: async () => {
      await folded();
      const [position = 0, events = 0] = await numbers(
        `SELECT l.position, (SELECT count(*) FROM events
          WHERE position <= l.position) FROM ledger AS l`,
      );
      return { position, events };
    },
    countTo: async (position) =>
      (await numbers(
        "SELECT count(*) FROM events WHERE position <= ?",
        position,
      ))[0] ?? 0,
    nth: async (events) =>
      (await numbers(
        "SELECT position FROM events ORDER BY position LIMIT 1 OFFSET ?",
        events - 1,
      ))[0] ?? null,
    ordersAt: (position, signal) =>
      ordersAt(driver, { position, readFact, ...signal && { signal } }),
  };
}

/** Walks over all orders as they were known at a position. */
async function* ordersAt(
  driver: Driver,
  { position, readFact, signal }: {
    readonly position: number;
    readonly readFact: (event: RecordedEvent) => Fact;
    readonly signal?: AbortSignal;
  },
): AsyncGenerator<
  { readonly orderId: string; readonly facts: readonly Fact[] }
> {
  const hash = await readHash(driver);
  const isKnown = (fact: Fact) => fact.position <= position;
  for (let after = -1;;) {
    signal?.throwIfAborted();
    const [orders = [], named = []] = await readDeciding(driver, [
      statement(
        "SELECT no, id FROM orders WHERE no > ? ORDER BY no LIMIT ?",
        ...[after, PAGE],
      ),
      statement(
        `SELECT m.no, ${EVENT_COLUMNS} FROM
          (SELECT no FROM orders WHERE no > ?1 ORDER BY no LIMIT ?2) AS o
          CROSS JOIN mentions AS m ON m.no = o.no AND m.position <= ?3
          CROSS JOIN events AS e ON e.position = m.position
          ORDER BY m.no, m.position`,
        ...[after, PAGE, position],
      ),
    ]);
    const last = orders.at(-1);
    if (last === undefined) return;
    after = Number(last[0]);
    const ids = new Map(orders.map(([no, id]) => [Number(no), String(id)]));
    const own = new Map<string, Fact[]>();
    for (
      const [at, event] of eventsOf(named.map((row) => row.slice(1))).entries()
    ) {
      const id = ids.get(Number(named[at]?.[0])) ?? "";
      const facts = own.get(id) ?? [];
      facts.push(readFact(event));
      own.set(id, facts);
    }
    const windows = [...own].flatMap(([id, facts]) => windowsOf(id, facts));
    const [terms, requirements] = await readDeciding(driver, [
      selectExpected(hash, windows, { earlier: true }),
      selectRules,
    ]);
    const expected = eventsOf(terms).map(readFact).filter(isExpectation)
      .filter(isKnown);
    const rules = eventsOf(requirements).map(readFact).filter(isWitnessRule)
      .filter(isKnown);
    for (const [orderId, facts] of own) {
      const clicks = new Set(facts.map(({ clickId }) => clickId));
      const references = new Set(
        expected.filter(({ expectation: { clickId } }) => clicks.has(clickId))
          .map(({ expectation: { reference } }) => reference),
      );
      const joined = expected.filter(({ expectation }) =>
        clicks.has(expectation.clickId) ||
        (expectation.reference !== null &&
          references.has(expectation.reference))
      );
      const all = [...facts, ...joined, ...rules];
      yield { orderId, facts: all.sort((a, b) => a.position - b.position) };
    }
  }
}
