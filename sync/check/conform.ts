import { ExactNumber, parseWithExactNumbers } from "../../core/json/json.ts";
import { isRecord } from "../../core/guards.ts";
import {
  normaliseTime,
  readServiceTime,
} from "../../core/time/service_time.ts";
import {
  ORDER_STATUSES,
  VERIFICATION_STATUSES,
} from "../../core/wire/objects.ts";
import { kindOf, ORDER_TIME_FORM, timeForm, word } from "./drift.ts";

/** What rows are about; those of one subject are shown together. */
export const SUBJECTS = {
  order_fields: "Orders: what a row has",
  order_pages: "Orders: the list and its pages",
  order_filters: "Orders: search and filters",
  users: "Users: states, pages and search",
  answers: "Answers as such",
} as const;

/** What goes wrong where the service is not as it is assumed to be. */
export const RISKS = {
  release: "an order may be released, or refused, wrongly",
  missed: "orders or users may not be found, or found late",
  misread: "a value is shown or counted as something else",
} as const;

const NOT_SEEN = {
  few_orders: "too few orders, or orders too alike",
  few_users: "too few users, or users too alike",
  no_such_order: "no order that shows it",
  earlier_form: "the list has no cursor",
  no_answer: "no answer came",
} as const;

/** Why a row could not be looked at. */
export type NotSeenReason = keyof typeof NOT_SEEN;

/**
 * One fact of what was seen. None holds an identifier, an amount, an address or
 * a key: counts, statuses, kinds of values, forms of times, documented words.
 */
export type Fact = string | number | boolean | null | readonly string[];

/** Whether what was seen agrees, and the facts; or why nothing was. */
type Seen =
  | readonly [agrees: boolean, facts: Readonly<Record<string, Fact>>]
  | NotSeenReason;

/** One thing that a decision of ours takes for granted of the service. */
interface AssumedRow {
  readonly subject: keyof typeof SUBJECTS;
  readonly risk: keyof typeof RISKS;
  readonly taken: string;
  readonly look: (reader: Reader) => Promise<Seen>;
}

const of = (subject: AssumedRow["subject"], usual: AssumedRow["risk"]) =>
(
  taken: string,
  look: AssumedRow["look"],
  risk: AssumedRow["risk"] = usual,
): AssumedRow => ({ subject, risk, taken, look });

const field = of("order_fields", "release");
const page = of("order_pages", "missed");
const filter = of("order_filters", "missed");
const user = of("users", "missed");

/** An identifier of the usual form that nothing has. */
const UNKNOWN_ID = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/** How far an order's time may be ahead while it is read, in milliseconds. */
const AHEAD_MS = 60_000;

/** Every row, by its name, in the order in which they are shown. */
export const CONFORMANCE_ROWS: Readonly<Record<string, AssumedRow>> = {
  order_amounts_are_numbers: field(
    "Amounts of an order are JSON numbers",
    ofOrders((orders) => {
      const met = distinct(
        orders.flatMap((order) =>
          [order.currency_amount, order.crypto_amount].map(kindOf)
        ),
      );
      return [met.join() === "number", { met }];
    }),
  ),
  order_status_listed: field(
    "status is one of the six that are described",
    ofOrders((orders) =>
      words(orders.map(({ status }) => status), ORDER_STATUSES)
    ),
  ),
  order_times_form: field(
    "Times of an order are YYYY-MM-DD HH:MM:SS",
    ofOrders((orders) => {
      const forms = distinct(orders.flatMap(timesOf).map(timeForm));
      return [forms.every((form) => ORDER_TIME_FORM.test(form)), { forms }];
    }),
    "missed",
  ),
  order_times_in_utc: field(
    "No time of an order is ahead of the service's clock",
    ofOrders(async (orders, { page }) => {
      const { dateMs, answeredAtMs } = await page("orders", { limit: "1" });
      const latestMs = Math.max(dateMs ?? 0, answeredAtMs) + AHEAD_MS;
      const ahead = orders.filter((order) =>
        timesOf(order).some((time) =>
          msOf(time) > latestMs
        )
      ).length;
      return [ahead === 0, { rows: orders.length, ahead }];
    }),
  ),
  order_success_has_transaction: field(
    "An order with success names its transaction",
    ofOrders((orders) => {
      const done = orders.filter(({ status }) => status === "success");
      if (done.length === 0) return "no_such_order";
      const without = done.filter(({ tx_id }) => !isText(tx_id)).length;
      return [without === 0, { successes: done.length, without }];
    }),
  ),

  orders_answer_form: page(
    "A list has success true, an array data, and a total",
    onPage({}, ({ status, body }) => {
      const success = body.success === true ? "true" : kindOf(body.success);
      const [data, total] = [kindOf(body.data), kindOf(body.total)];
      const isList = status === 200 && success === "true" && data === "array";
      return [isList && total === "number", { status, success, data, total }];
    }),
  ),
  orders_current_form: page(
    "A list of orders has next_cursor_id",
    onPage({}, ({ body }) => {
      const next_cursor_id = kindOf(body.next_cursor_id);
      return [next_cursor_id === "text", { next_cursor_id }];
    }),
  ),
  orders_limit_most: page(
    "With a limit of 20 twenty orders come",
    onPage({}, ({ rows: { length: rows }, body: { total } }) => {
      const isShort = total instanceof ExactNumber && Number(total.text) < 20;
      return isShort ? "few_orders" : [rows === 20, { rows }];
    }),
  ),
  orders_oldest_first: page(
    "With order_by asc the oldest orders come first",
    oldestFirst("orders"),
  ),
  orders_start_exclusive: page(
    "start_date leaves out orders created at that second",
    atEdge("orders", "start"),
  ),
  orders_end_inclusive: page(
    "end_date takes in orders created at that second",
    atEdge("orders", "end"),
  ),
  orders_cursor_goes_on: page(
    "next_cursor_id leads to the page after, without a gap",
    async ({ page }) => {
      const limit = "2";
      const first = await page("orders", { limit });
      const whole = await page("orders", { limit: "4" });
      if (whole.rows.length < 4) return "few_orders";
      const cursor_id = first.body.next_cursor_id;
      if (!isText(cursor_id)) return "earlier_form";
      const second = await page("orders", { limit, cursor_id });
      const ids = (rows: readonly WireRow[]) =>
        rows.map(({ order_id }) => order_id).join();
      const likeOnePage =
        ids(whole.rows) === ids([...first.rows, ...second.rows]);
      const { status, rows: { length: rows } } = second;
      return [status === 200 && likeOnePage, { status, rows, likeOnePage }];
    },
  ),
  orders_cursor_ends: page(
    "The last page has an empty next_cursor_id, or none",
    ofOrders(async ([order], { page }) => {
      const search_by = String(order?.order_id);
      const { body } = await page("orders", { search_by });
      const cursor = body.next_cursor_id;
      const last = cursor === "" ? "empty" : kindOf(cursor);
      return [last !== "text", { last }];
    }),
  ),

  orders_by_order_id: filter(
    "search_by finds an order by its order_id",
    byIds("orders", "order_id", 1),
    "release",
  ),
  orders_by_click_id: filter(
    "search_by finds an order by its click_id",
    byIds("orders", "click_id", 1),
  ),
  orders_by_twenty_ids: filter(
    "search_by finds twenty orders at once",
    byIds("orders", "order_id", 20),
  ),
  orders_by_unknown_id: filter(
    "An id that is not known gives an empty list, not 404",
    onPage({ search_by: UNKNOWN_ID }, ({ status, rows: { length: rows } }) => [
      status === 200 && rows === 0,
      { status, rows },
    ]),
    "release",
  ),

  user_kyc_listed: user(
    "lkyc_status and fkyc_status are states that are known",
    async ({ sample }) => {
      const users = await sample("users");
      return users.length === 0 ? "few_users" : words(
        users.flatMap((one) => [one.lkyc_status, one.fkyc_status]),
        VERIFICATION_STATUSES,
      );
    },
    "misread",
  ),
  users_oldest_first: user(
    "With order_by asc the oldest users come first",
    oldestFirst("users"),
  ),
  users_from_exclusive: user(
    "from leaves out users created at that time",
    atEdge("users", "start"),
  ),
  users_to_inclusive: user(
    "to takes in users created at that time",
    atEdge("users", "end"),
  ),
  users_by_ids: user(
    "user_ids finds several users at once",
    byIds("users", "user_id", 2),
  ),

  service_clock: of("answers", "release")(
    "Answers have a Date, within five seconds of our clock",
    onPage({ limit: "1" }, ({ dateMs, askedAtMs, answeredAtMs }) => {
      const stated = dateMs !== null;
      // The header has whole seconds, and was written in between.
      const aheadMs = (dateMs ?? 0) - answeredAtMs;
      const behindMs = askedAtMs - ((dateMs ?? 0) + 1000);
      const apartSeconds = Math.round(Math.max(0, aheadMs, behindMs) / 1000);
      return stated
        ? [apartSeconds <= 5, { stated, apartSeconds }]
        : [false, { stated }];
    }),
  ),
};

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "";

const msOf = (time: unknown) => readServiceTime(String(time)) ?? NaN;

const timesOf = ({ created_at, changed_at }: WireRow) => [
  created_at,
  changed_at,
];

/** Looks at the sample of orders, where there are some. */
function ofOrders(
  see: (orders: readonly WireRow[], reader: Reader) => Seen | Promise<Seen>,
): AssumedRow["look"] {
  return async (reader) => {
    const orders = await reader.sample("orders");
    return orders.length === 0 ? "few_orders" : await see(orders, reader);
  };
}

function onPage(
  parameters: ListParameters,
  see: (page: ReadAnswer) => Seen,
): AssumedRow["look"] {
  return async ({ page }) => see(await page("orders", parameters));
}

/** The distinct words of a field, and those that are not documented. */
function words(
  values: readonly unknown[],
  documented: readonly string[],
): Seen {
  const met = distinct(
    values.filter(isText).map((value) => word(value, documented)),
  );
  const unknown = met.filter((one) => !documented.includes(one));
  return [unknown.length === 0, { met, unknown }];
}

function oldestFirst(list: ListName): AssumedRow["look"] {
  return async ({ page }) => {
    const { rows } = await page(list, { order_by: "asc" });
    const times = rows.map(({ created_at }) => msOf(created_at));
    if (new Set(times).size < 2) return `few_${list}`;
    const outOfOrder =
      times.slice(1).filter((time, at) => time < (times[at] ?? 0)).length;
    return [outOfOrder === 0, { rows: rows.length, outOfOrder }];
  };
}

/** Asks from, or up to, a time at which a row was created, not the latest. */
function atEdge(list: ListName, side: "start" | "end"): AssumedRow["look"] {
  return async ({ page }) => {
    const { rows } = await page(list, {});
    const latestMs = msOf(rows[0]?.created_at);
    const edge = side === "start"
      ? rows.at(-1)
      : rows.find((row) => msOf(row.created_at) < latestMs);
    const edgeMs = msOf(edge?.created_at);
    if (edge === undefined || edgeMs === latestMs) return `few_${list}`;
    const { status, rows: found } = await page(list, {
      [LISTS[list][side]]: normaliseTime(String(edge.created_at)) ?? "",
    });
    const count = (sign: number) =>
      found.filter((row) => Math.sign(msOf(row.created_at) - edgeMs) === sign)
        .length;
    const [before, same, after] = [count(-1), count(0), count(1)];
    const agrees = side === "end"
      ? same > 0 && after === 0
      : same === 0 && before === 0 && after > 0;
    return [status === 200 && agrees, { status, before, same, after }];
  };
}

function byIds(
  list: ListName,
  name: string,
  asked: number,
): AssumedRow["look"] {
  return async ({ page, sample }) => {
    const wanted = (await sample(list)).map((one) => one[name]).filter(isText)
      .slice(0, asked);
    if (wanted.length < asked) {
      return asked === 1 ? "no_such_order" : `few_${list}`;
    }
    const { status, rows } = await page(list, {
      [LISTS[list].ids]: wanted.join(","),
    });
    const came = new Set(rows.map((one) => one[name]));
    const found = wanted.filter((id) => came.has(id)).length;
    const others = came.size - found;
    return [
      status === 200 && found === asked && others === 0,
      { status, asked, found, others },
    ];
  };
}

/** Sorted, each once, and no more than a report should hold. */
function distinct(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort().slice(0, MOST_WORDS);
}

const MOST_WORDS = 40;

/** A row of a list as the service sent it; numbers are `ExactNumber`s. */
type WireRow = Readonly<Record<string, unknown>>;

type ListParameters = Readonly<Record<string, string>>;

const LISTS = {
  orders: {
    id: "order_id",
    ids: "search_by",
    start: "start_date",
    end: "end_date",
  },
  users: { id: "user_id", ids: "user_ids", start: "from", end: "to" },
} as const;

type ListName = keyof typeof LISTS;

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

/** Reads a page of one of the service's two lists; null where no answer came. */
export type AskService = (
  list: ListName,
  parameters: ListParameters,
) => Promise<ServiceAnswer | null>;

interface ReadAnswer extends ServiceAnswer {
  readonly body: WireRow;
  readonly rows: readonly WireRow[];
}

const NO_ANSWER = Symbol("no answer");

/** Age at which no new order appears in a window, in milliseconds. */
const SETTLED_MS = 60_000;

type Reader = ReturnType<typeof readerOf>;

/** Asks each question once, of what is old enough not to change. */
function readerOf(ask: AskService, nowMs: number) {
  const asked = new Map<string, Promise<ReadAnswer>>();
  const until = new Date(nowMs - SETTLED_MS).toISOString().replace(/\.\d+/, "");
  return { page, sample };

  /** A page of twenty, the newest first, unless the parameters say otherwise. */
  function page(
    list: ListName,
    parameters: ListParameters,
  ): Promise<ReadAnswer> {
    const usual = { [LISTS[list].end]: until, order_by: "desc", limit: "20" };
    const question = { ...usual, ...parameters };
    const key = JSON.stringify([list, question]);
    const answer = asked.get(key) ?? ask(list, question).then(read);
    asked.set(key, answer);
    return answer;
  }

  /** The newest and the oldest rows, and orders of each status. */
  async function sample(list: ListName): Promise<readonly WireRow[]> {
    const statuses = list === "orders" ? ORDER_STATUSES : [];
    const kinds = statuses.map((status) => ({ status }));
    const rows = new Map<unknown, WireRow>();
    for (const parameters of [{}, { order_by: "asc" }, ...kinds]) {
      for (const row of (await page(list, parameters)).rows) {
        rows.set(row[LISTS[list].id], row);
      }
    }
    return [...rows.values()];
  }
}

function read(answer: ServiceAnswer | null): ReadAnswer {
  if (answer === null) throw NO_ANSWER;
  let body: WireRow = {};
  try {
    const value = parseWithExactNumbers(answer.text ?? "");
    if (isRecord(value)) body = value;
  } catch {
    // What is no JSON has no fields.
  }
  const { data } = body;
  return {
    ...answer,
    body,
    rows: Array.isArray(data) ? data.filter(isRecord) : [],
  };
}

/** One thing that is assumed of the service, and what was seen of it. */
export interface ConformRow {
  /** Name of the row. */
  readonly name: string;
  /** What it is about. */
  readonly subject: keyof typeof SUBJECTS;
  /** What is assumed of the service, in one sentence. */
  readonly taken: string;
  /** Whether it is so. */
  readonly verdict: "agrees" | "differs" | "not_seen";
  /** What was seen; null when it could not be looked at. */
  readonly facts:
    | readonly {
      /** What it is of. */
      readonly name: string;
      /** A count, a status, a word, or several words. */
      readonly value: Fact;
    }[]
    | null;
  /** Why it could not be looked at; null when it was. */
  readonly reason: {
    readonly code: NotSeenReason;
    /** The same for people. */
    readonly message: string;
  } | null;
  /** What goes wrong where it is not so. */
  readonly risk: {
    readonly code: keyof typeof RISKS;
    /** The same for people. */
    readonly message: string;
  };
}

interface ConformOptions {
  readonly ask: AskService;
  readonly now: () => number;
  readonly onProgress?: (done: number) => void;
  /** Stops between two rows: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Looks at each row, one request at a time. What differs is looked at a second
 * time, because orders may change while they are read.
 */
export async function conform(
  { ask, now, onProgress, signal }: ConformOptions,
): Promise<readonly ConformRow[]> {
  const look = (row: AssumedRow, by: Reader) =>
    row.look(by).catch((error): Seen => {
      signal?.throwIfAborted();
      // No answer to one question must not end the others.
      if (error === NO_ANSWER) return "no_answer";
      throw error;
    });
  const reader = readerOf(ask, now());
  const rows: ConformRow[] = [];
  for (const [name, row] of Object.entries(CONFORMANCE_ROWS)) {
    signal?.throwIfAborted();
    onProgress?.(rows.length);
    const first = await look(row, reader);
    const seen = first[0] === false
      ? await look(row, readerOf(ask, now()))
      : first;
    const { subject, taken, risk } = row;
    const isSeen = typeof seen !== "string";
    rows.push({
      ...{ name, subject, taken },
      verdict: !isSeen ? "not_seen" : seen[0] ? "agrees" : "differs",
      facts: isSeen
        ? Object.entries(seen[1]).map(([name, value]) => ({ name, value }))
        : null,
      reason: isSeen ? null : { code: seen, message: NOT_SEEN[seen] },
      risk: { code: risk, message: RISKS[risk] },
    });
  }
  onProgress?.(rows.length);
  return rows;
}
