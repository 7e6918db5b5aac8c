import { isRecord } from "../../core/guards.ts";
import { parseWithExactNumbers } from "../../core/json/exact_number.ts";
import { ORDER_STATUSES } from "../../core/wire/order.ts";
import type { WireRow } from "./scrub.ts";

/** Parameters of a list, by name; sent as they are. */
export type ListParameters = Readonly<Record<string, string>>;

/** What the service answered, as it came. */
export interface ServiceAnswer {
  /** HTTP status. */
  readonly status: number;
  /** Its `Date`, in milliseconds since 1970; null where it states none. */
  readonly dateMs: number | null;
  /** Our clock when it was sent, in milliseconds since 1970. */
  readonly askedAtMs: number;
  /** Our clock when the answer was whole, in milliseconds since 1970. */
  readonly answeredAtMs: number;
  /** The body as text; null where none could be read. */
  readonly text: string | null;
}

/** The service gave no answer at all, after every attempt. */
export class NoAnswerError extends Error {
  /** Name of the class. */
  override readonly name = "NoAnswerError";
}

/** Reads pages of the service's two lists, one request at a time. */
export interface AskService {
  readonly orders: (parameters: ListParameters) => Promise<ServiceAnswer>;
  readonly users: (parameters: ListParameters) => Promise<ServiceAnswer>;
}

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

/** What a row looks with. */
export interface Reader {
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
}

/** Rows that an answer holds at most. */
export const PAGE = "20";

/** Age at which no new order appears in a window, in milliseconds. */
const SETTLED_MS = 60_000;

/** A reader that asks each question once. */
export function createReader(ask: AskService, nowMs: number): Reader {
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
  const sample = async (
    pages: readonly Promise<ReadAnswer>[],
    id: string,
  ): Promise<readonly WireRow[]> => {
    const rows = (await Promise.all(pages)).flatMap((page) => page.rows);
    return [...new Map(rows.map((row) => [row[id], row])).values()];
  };
  return {
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

function bodyOf(text: string | null): WireRow {
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
