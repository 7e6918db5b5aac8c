import type { AssetTable } from "../../../core/assets/environment.ts";
import { isRecord } from "../../../core/guards.ts";
import { parseWithExactNumbers } from "../../../core/json/exact_number.ts";
import type {
  AskService,
  ListParameters,
  ServiceAnswer,
  TestRequest,
} from "./ask_service.ts";
import { ORDER_STATUSES } from "./documented.ts";
import type { LedgerSample } from "./ledger_sample.ts";
import type { WireRow } from "./scrub.ts";

/** An answer whose body was read. */
export interface ReadAnswer extends Omit<ServiceAnswer, "text"> {
  /** The body as an object; empty where it is none. */
  readonly body: WireRow;
  /** The rows of `data`; empty where there are none. */
  readonly rows: readonly WireRow[];
  /** The cursor of the next page; empty at the end and where there is none. */
  readonly cursor: string;
  /** The stated total; null where there is none. */
  readonly total: number | null;
}

/** What a probe looks with. */
export interface Reader {
  /** Which table of assets the environment has. */
  readonly assets: AssetTable;
  /** A page of orders; the same question is asked once. */
  readonly orders: (parameters?: ListParameters) => Promise<ReadAnswer>;
  /** A page of users; likewise. */
  readonly users: (parameters?: ListParameters) => Promise<ReadAnswer>;
  /** Orders old enough not to change: newest, oldest, and of each status. */
  readonly sampleOrders: () => Promise<readonly WireRow[]>;
  /** Users, newest and oldest. */
  readonly sampleUsers: () => Promise<readonly WireRow[]>;
  /** Parameters that leave out orders of the last minute. */
  readonly settled: ListParameters;
  /** The same for users. */
  readonly settledUsers: ListParameters;
  /** Creates a session; null where that was not asked for. */
  readonly session:
    | ((body: Readonly<Record<string, unknown>>) => Promise<ReadAnswer>)
    | null;
  /** Reads orders with a wrong key; null where that was not asked for. */
  readonly withWrongKey: (() => Promise<ReadAnswer>) | null;
  /** What the ledger has; null without one. */
  readonly ledger: LedgerSample | null;
  /** The Test button's request; null before it came or where none is awaited. */
  readonly test: () => TestRequest | "not_awaited" | "none_came";
}

/** What a reader is made of. */
export interface ReaderOptions {
  readonly ask: AskService;
  readonly assets: AssetTable;
  readonly ledger: LedgerSample | null;
  readonly test: Reader["test"];
  /** Clock, milliseconds since 1970. */
  readonly nowMs: number;
}

/** Rows that an answer holds at most. */
export const PAGE = "20";

/**
 * Age at which orders no longer change except for their status, in
 * milliseconds.
 */
const SETTLED_MS = 60_000;

/** A reader that asks each question once. */
export function createReader(
  { ask, assets, ledger, test, nowMs }: ReaderOptions,
): Reader {
  const once = remembered(async (key: string) => {
    const [list, parameters] = JSON.parse(key);
    return read(await ask[list as "orders" | "users"](parameters));
  });
  const orders = (parameters: ListParameters = {}) =>
    once(JSON.stringify(["orders", parameters]));
  const users = (parameters: ListParameters = {}) =>
    once(JSON.stringify(["users", parameters]));
  const until = new Date(Math.floor((nowMs - SETTLED_MS) / 1000) * 1000)
    .toISOString().replace(".000Z", "Z");
  const settled = { end_date: until };
  const settledUsers = { to: until };
  const { session, withWrongKey } = ask;
  const sample = async (
    pages: readonly Promise<ReadAnswer>[],
    id: string,
  ): Promise<readonly WireRow[]> => {
    const rows = (await Promise.all(pages)).flatMap((page) => page.rows);
    return [...new Map(rows.map((row) => [row[id], row])).values()];
  };
  return {
    assets,
    orders,
    users,
    settled,
    settledUsers,
    sampleOrders: () =>
      sample([
        orders({ ...settled, limit: PAGE, order_by: "desc" }),
        orders({ ...settled, limit: PAGE, order_by: "asc" }),
        ...ORDER_STATUSES.map((status) =>
          orders({ ...settled, limit: PAGE, order_by: "desc", status })
        ),
      ], "order_id"),
    sampleUsers: () =>
      sample([
        users({ ...settledUsers, limit: PAGE, order_by: "desc" }),
        users({ ...settledUsers, limit: PAGE, order_by: "asc" }),
      ], "user_id"),
    session: session && (async (body) => read(await session(body))),
    withWrongKey: withWrongKey && (async () => read(await withWrongKey())),
    ledger,
    test,
  };
}

function remembered<T>(
  make: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const made = new Map<string, Promise<T>>();
  return (key) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const now = make(key);
    made.set(key, now);
    return now;
  };
}

function read({ text, ...answer }: ServiceAnswer): ReadAnswer {
  const body = bodyOf(text);
  const { data, next_cursor_id: cursor, total } = body;
  return {
    ...answer,
    body,
    rows: Array.isArray(data) ? data.filter(isRecord) : [],
    cursor: typeof cursor === "string" ? cursor : "",
    total: numberOf(total),
  };
}

/** The body as an object; empty where it is none. */
export function bodyOf(text: string | null): WireRow {
  if (text === null) return {};
  try {
    const value = parseWithExactNumbers(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function numberOf(value: unknown): number | null {
  const number = Number(isRecord(value) ? value.text : Number.NaN);
  return Number.isFinite(number) ? number : null;
}
