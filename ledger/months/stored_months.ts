/** The closed months of a ledger, what they have booked, and the facts that books are made of. */
import { printable } from "../../core/printable.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { factId } from "../events/record.ts";
import { selectRules } from "../projection/anew.ts";
import { initialOrderFold } from "../orders/order_fold.ts";
import { selectExpected, windowsOf } from "../projection/expected.ts";
import { readHash } from "../reads/names.ts";
import { readDeciding, statement } from "../store/database.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { EVENT_COLUMNS, eventsOf, readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import type { BookedBefore } from "./decide_rows.ts";
import { readItems } from "./month_files.ts";
import { fileText, type MonthClose, readMonthClose } from "./month_close.ts";

async function selectNumbers(
  driver: Driver,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<number[][]> {
  const [rows = []] = await readDeciding(driver, [statement(sql, ...args)]);
  return rows.map((row) => row.map(Number));
}

/** Positions of the closed months, in the order of the months; each keeps its own. */
export async function readMonthPositions(driver: Driver): Promise<number[]> {
  // Events that were imported may stand in any order.
  const rows = await selectNumbers(
    driver,
    `SELECT e.position FROM events AS e
      WHERE e.kind = 'month_closed' AND e.${IS_RARE}
      ORDER BY CASE WHEN json_valid(CAST(e.body AS TEXT))
        THEN CAST(e.body AS TEXT) ->> '$.month' END`,
  );
  return rows.flat();
}

/** The last of the events that are folded, and how many there are up to it. */
export async function readHead(driver: Driver): Promise<MonthClose["asOf"]> {
  const [[position = 0, events = 0] = []] = await selectNumbers(
    driver,
    `SELECT l.position, (SELECT count(*) FROM events
      WHERE position <= l.position) FROM ledger AS l`,
  );
  return { position, events };
}

/** Reads the closed months one by one, in their order. */
export async function* listMonths(
  driver: Driver,
): AsyncGenerator<MonthClose> {
  for (const position of await readMonthPositions(driver)) {
    const close = await readMonthAt(driver, position);
    if (close !== null) yield close;
  }
}

/** Reads the closed month at a position; null when none is there. */
export function readMonthAt(
  driver: Driver,
  position: number,
): Promise<MonthClose | null> {
  return readClose(driver, "position", position);
}

/** Reads one closed month; null when it is not closed. */
export function readMonth(
  driver: Driver,
  month: string,
): Promise<MonthClose | null> {
  return readClose(driver, "id", factId("month_closed", month, null, ""));
}

async function readClose(
  driver: Driver,
  column: "position" | "id",
  value: SqlValue,
): Promise<MonthClose | null> {
  const from = `events AS e WHERE e.${column} = ?`;
  const [event] = await readEvents(driver, from, value);
  return event === undefined ? null : readMonthClose(event);
}

/** What closed months have booked. */
export interface StoredBooks {
  readonly before: BooksBefore;
  /** The first closed month; null when there is none. */
  readonly firstMonth: string | null;
  /** The last of them; null when there is none. */
  readonly last: MonthClose | null;
}

/** Reads what closed months have booked: those before a month, or all. */
export async function readBooks(
  driver: Driver,
  beforeMonth: string | null,
): Promise<StoredBooks> {
  const before = new BooksBefore();
  let firstMonth: string | null = null;
  let last: MonthClose | null = null;
  for await (const close of listMonths(driver)) {
    if (beforeMonth !== null && close.month >= beforeMonth) break;
    before.add(close);
    firstMonth ??= close.month;
    last = close;
  }
  return { before, firstMonth, last };
}

/**
 * Position of the last event that a closing knew: an import numbers events
 * anew.
 */
export async function readKnownPosition(
  driver: Driver,
  { asOf: { position, events } }: MonthClose,
): Promise<number> {
  const [[count] = []] = await selectNumbers(
    driver,
    "SELECT count(*) FROM events WHERE position <= ?",
    position,
  );
  if (count === events) return position;
  const [[nth = position] = []] = await selectNumbers(
    driver,
    "SELECT position FROM events ORDER BY position LIMIT 1 OFFSET ?",
    events - 1,
  );
  return nth;
}

/** What closed months have booked, by order as its files write it. */
export class BooksBefore {
  readonly #orders = new Map<string, BookedBefore>();

  /** Adds the rows of a closed month; months come in their order. */
  add(close: MonthClose): void {
    const closedAt = close.position;
    // A restatement stands behind the reversal of the same order.
    for (const row of readItems(fileText(close, "items.csv"))) {
      const { orderId, kind, ofMonth, datedBy } = row;
      const money = kind === "reversal" ? null : row.money;
      this.#orders.set(printable(orderId), {
        money,
        ofMonth,
        datedBy,
        closedAt,
      });
    }
  }

  /** What they have booked of an order; null when nothing. */
  of(orderId: string): BookedBefore | null {
    return this.#orders.get(printable(orderId)) ?? null;
  }
}

/** Orders read at once. */
const PAGE = 200;

/** Walks over all orders as they were known at a position. */
export async function* ordersAt(
  driver: Driver,
  { position, readFact, signal }: {
    readonly position: number;
    readonly readFact: (event: RecordedEvent) => Fact;
    readonly signal?: AbortSignal | undefined;
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
    const windows = [...own].flatMap(([id, facts]) =>
      windowsOf(initialOrderFold(id), facts)
    );
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
