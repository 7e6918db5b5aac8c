import { isRecord } from "../../core/guards.ts";
import {
  ExactNumber,
  parseWithExactNumbers,
} from "../../core/json/exact_number.ts";
import { ORDER_STATUSES } from "../../core/wire/order.ts";
import type { WireRow } from "./scrub.ts";

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
