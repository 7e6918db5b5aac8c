/** The closed months of a ledger, what they have booked, and the orders that books are made of. */
import { printable } from "../../core/printable.ts";
import type {
  MonthClosedBody,
  MonthClosedFile,
  RecordedEvent,
} from "../events/event.ts";
import type { Fact } from "../events/fact.ts";
import { factId } from "../events/record.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { type AnewOptions, factsOf, joinAll } from "../projection/anew.ts";
import { readHash } from "../reads/names.ts";
import { readDeciding, statement } from "../store/database.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import { readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import type { BookedBefore, OrderAt } from "./decide_rows.ts";
import { type MonthTerms, readItems, sha256Of } from "./month_files.ts";
import type { BookBy } from "./month_row.ts";

/** A closed month as it is stored. */
export interface MonthClose extends MonthTerms {
  /** When it was closed, UTC ISO 8601. */
  readonly closedAt: string;
  /** Digest of its event. */
  readonly digest: string;
  /** Position of its event. */
  readonly position: number;
  /** Its files: `summary.json`, `items.csv`, and sums of it. */
  readonly files: readonly MonthClosedFile[];
}

/** The text of a file of a closed month; the empty text when it has none. */
export function fileText(close: MonthClose, name: string): string {
  return close.files.find((file) => file.name === name)?.text ?? "";
}

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
  if (event === undefined) return null;
  const body = bodyOf(event);
  for (const { name, text, sha256 } of body.files) {
    if (sha256Of(text) !== sha256) {
      throw new SyntaxError(
        `Cannot read the closed month ${body.month}: ${name} is not what its ` +
          "hash says; see ledger verify",
      );
    }
  }
  return {
    month: body.month,
    timeZone: body.time_zone,
    timeZoneVersion: body.time_zone_version,
    bookBy: body.book_by as BookBy,
    closedAt: event.recordedAt,
    digest: event.digest,
    position: event.position,
    asOf: { position: body.position, events: body.events },
    foldVersion: body.fold_version,
    files: body.files,
  };
}

function bodyOf({ body, position }: RecordedEvent): MonthClosedBody {
  const value = body.length === 0
    ? null
    : JSON.parse(new TextDecoder().decode(body));
  const { files } = value ?? {};
  const texts = [value?.month, value?.time_zone, value?.book_by];
  const numbers = [value?.position, value?.events, value?.fold_version];
  if (
    texts.every((one) => typeof one === "string") &&
    numbers.every((one) => typeof one === "number") && Array.isArray(files) &&
    files.every((file) => typeof file?.text === "string")
  ) return value;
  throw new SyntaxError(
    `Cannot read the closed month at position ${position}: its event ` +
      "was erased, or is of a newer version",
  );
}

/** What closed months have booked. */
export interface StoredBooks {
  /** By order, as files write it. */
  readonly booked: Map<string, BookedBefore>;
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
  const booked: StoredBooks["booked"] = new Map();
  let firstMonth: string | null = null;
  let last: MonthClose | null = null;
  for await (const close of listMonths(driver)) {
    if (beforeMonth !== null && close.month >= beforeMonth) break;
    addBooked(booked, close);
    firstMonth ??= close.month;
    last = close;
  }
  return { booked, firstMonth, last };
}

/** Adds the rows of a closed month; months come in their order. */
export function addBooked(
  booked: StoredBooks["booked"],
  close: MonthClose,
): void {
  const closedAt = close.position;
  // A restatement stands behind the reversal of the same order.
  for (const row of readItems(fileText(close, "items.csv"))) {
    const { orderId, kind, ofMonth, datedBy } = row;
    const money = kind === "reversal" ? null : row.money;
    booked.set(printable(orderId), { money, ofMonth, datedBy, closedAt });
  }
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

/** Orders read at once. */
const PAGE = 200;

/** Walks over all orders as they were known at a position. */
export async function* ordersAt(
  driver: Driver,
  { signal, past, ...parts }: Pick<AnewOptions, "assets" | "readFact"> & {
    readonly past: number;
    readonly signal?: AbortSignal | undefined;
  },
): AsyncGenerator<OrderAt> {
  const options = { ...parts, past, hash: await readHash(driver) };
  for (let after = -1;;) {
    signal?.throwIfAborted();
    const [rows = []] = await readDeciding(driver, [statement(
      "SELECT no, id FROM orders WHERE no > ? ORDER BY no LIMIT ?",
      ...[after, PAGE],
    )]);
    if (rows.length === 0) return;
    const nos = rows.map(([no]) => Number(no));
    const folds = new Map<number, OrderFold>(
      rows.map(([no, id]) => [Number(no), initialOrderFold(String(id))]),
    );
    const facts = new Map(nos.map((no) => [no, [] as Fact[]]));
    for await (const [no, fact] of factsOf(driver, nos, options)) {
      if (fact.position > past) continue;
      folds.set(no, evolveOrder(folds.get(no) as OrderFold, fact));
      facts.get(no)?.push(fact);
    }
    await joinAll(driver, folds, options);
    for (const [no, fold] of folds) yield { fold, facts: facts.get(no) ?? [] };
    after = nos.at(-1) ?? after;
  }
}
