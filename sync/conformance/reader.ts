import { isRecord } from "../../core/guards.ts";
import {
  ExactNumber,
  parseWithExactNumbers,
} from "../../core/json/exact_number.ts";
import { ORDER_STATUSES } from "../../core/wire/order.ts";

/** A row of a list as the service sent it; numbers are `ExactNumber`s. */
export type WireRow = Readonly<Record<string, unknown>>;

/** Parameters of a list, by name; sent as they are. */
export type ListParameters = Readonly<Record<string, string>>;

/** What the service answered, as it came. */
export interface ServiceAnswer {
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
  override readonly name = "NoAnswerError";
}

export type ListName = keyof typeof LISTS;

/** Reads a page of one of the service's two lists, one request at a time. */
export type AskService = (
  list: ListName,
  parameters: ListParameters,
) => Promise<ServiceAnswer>;

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

export interface Reader {
  /** A page of what is old enough not to change; the same question is asked once. */
  readonly page: (
    list: ListName,
    parameters: ListParameters,
  ) => Promise<ReadAnswer>;
  /** The newest and the oldest of it, and orders of each status. */
  readonly sample: (list: ListName) => Promise<readonly WireRow[]>;
}

/** Names of what both lists have. */
export const LISTS = {
  orders: {
    id: "order_id",
    ids: "search_by",
    start: "start_date",
    end: "end_date",
  },
  users: { id: "user_id", ids: "user_ids", start: "from", end: "to" },
} as const;

/** Rows that an answer holds at most. */
export const PAGE = "20";

/** Age at which no new order appears in a window, in milliseconds. */
const SETTLED_MS = 60_000;

/** A reader that asks each question once. */
export function createReader(ask: AskService, nowMs: number): Reader {
  const asked = new Map<string, Promise<ReadAnswer>>();
  const until = new Date(Math.floor((nowMs - SETTLED_MS) / 1000) * 1000)
    .toISOString().replace(".000Z", "Z");
  const page: Reader["page"] = (list, parameters) => {
    const question = { [LISTS[list].end]: until, ...parameters };
    const key = JSON.stringify([list, question]);
    const answer = asked.get(key) ?? ask(list, question).then(read);
    asked.set(key, answer);
    return answer;
  };
  return {
    page,
    sample: async (list) => {
      const statuses = list === "orders" ? ORDER_STATUSES : [];
      const pages = await Promise.all(
        [
          { order_by: "desc" },
          { order_by: "asc" },
          ...statuses.map((status) => ({ order_by: "desc", status })),
        ].map((parameters) => page(list, { limit: PAGE, ...parameters })),
      );
      const rows = pages.flatMap((one) => one.rows);
      return [
        ...new Map(rows.map((row) => [row[LISTS[list].id], row])).values(),
      ];
    },
  };
}

function read({ text, ...answer }: ServiceAnswer): ReadAnswer {
  let body: WireRow = {};
  try {
    const value = parseWithExactNumbers(text ?? "");
    if (isRecord(value)) body = value;
  } catch {
    // What is no JSON has no fields.
  }
  const { data, next_cursor_id: cursor, total } = body;
  return {
    ...answer,
    body,
    rows: Array.isArray(data) ? data.filter(isRecord) : [],
    cursor: typeof cursor === "string" ? cursor : "",
    total: total instanceof ExactNumber ? Number(total.text) : null,
  };
}

/** What kind of JSON value something is. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return "number";
  return typeof value === "string" ? "text" : typeof value;
}

/** Sorted, each once, and no more than a transcript should hold. */
export function distinct(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort().slice(0, MOST_WORDS);
}

const MOST_WORDS = 40;
const LONGEST_WORD = 40;

/**
 * A word of a documented list as it is; any other text only where it is short
 * and holds nothing that could name a person, an order or an amount.
 */
export function word(value: unknown, documented: readonly string[]): string {
  if (typeof value !== "string") return `(${kindOf(value)})`;
  if (documented.includes(value)) return value;
  return /^(?:\d{4}|[A-Za-z0-9][A-Za-z _-]*\d?)$/.test(value) &&
      value.length <= LONGEST_WORD
    ? value
    : `(text of ${value.length})`;
}

/** The name of a field; none that could be an identifier used as a key. */
export function fieldName(name: string): string {
  return /^[A-Za-z_][A-Za-z_]*\d{0,2}$/.test(name) &&
      name.length <= LONGEST_WORD
    ? name
    : `(name of ${name.length})`;
}

/** The form of a time: digits become 9. Anything else is only measured. */
export function timeForm(value: unknown): string {
  if (typeof value !== "string") return `(${kindOf(value)})`;
  const form = value.replace(/\d/g, "9");
  return /^[9T:Z .+-]{1,40}$|^[9: .+-]{1,32}UTC$/.test(form)
    ? form
    : `(text of ${value.length})`;
}

const LONGEST_MESSAGE = 160;

/** The message of an error, without what it may repeat of the question. */
export function message(body: unknown): string | null {
  const text = isRecord(body) ? body.message : undefined;
  if (typeof text !== "string") return null;
  return text.slice(0, LONGEST_MESSAGE)
    .replace(/[^\x20-\x7e]/g, "?")
    .replace(/\b(?=\w*\d)\w{5,}\b|\S{25,}|\S*@\S*/g, "*");
}

/** How orders write times, in the form of {@linkcode timeForm}. */
export const ORDER_TIME_FORM = /^9999-99-99 99:99:99$/;
