import {
  normaliseTime,
  readServiceTime,
} from "../../core/time/service_time.ts";
import { ORDER_STATUSES } from "../../core/wire/order.ts";
import { VERIFICATION_STATUSES } from "../../core/wire/user.ts";
import {
  distinct,
  kindOf,
  type ListName,
  type ListParameters,
  LISTS,
  message,
  ORDER_TIME_FORM,
  PAGE,
  type ReadAnswer,
  type Reader,
  timeForm,
  type WireRow,
  word,
} from "./reader.ts";

/**
 * One fact of what was seen. None holds an identifier, an amount, an address or
 * a key: counts, statuses, kinds of values, forms of times, documented words.
 */
export type Fact = string | number | boolean | null | readonly string[];

/** Why a row could not be looked at. */
export const NOT_SEEN = {
  few_orders: "too few orders, or orders too alike",
  few_users: "too few users, or users too alike",
  no_such_order: "no order that shows it",
  earlier_form: "the list has no cursor",
  no_answer: "no answer came",
} as const;

/** Why a row could not be looked at. */
export type NotSeenReason = keyof typeof NOT_SEEN;

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
  error: "a failure is named wrongly, or retried without effect",
} as const;

/** What was seen, and whether it agrees with what is assumed. */
type Seen = readonly [agrees: boolean, facts: Readonly<Record<string, Fact>>];

/** One thing that a decision of ours takes for granted of the service. */
export interface ConformanceRow {
  readonly subject: keyof typeof SUBJECTS;
  readonly risk: keyof typeof RISKS;
  /** What is assumed, in one sentence. */
  readonly taken: string;
  /** Looks, and returns what it saw, or why there was nothing to see. */
  readonly look: (reader: Reader) => Promise<Seen | NotSeenReason>;
}

const of =
  (subject: ConformanceRow["subject"], risk: ConformanceRow["risk"]) =>
  (
    taken: string,
    look: ConformanceRow["look"],
  ): ConformanceRow => ({ subject, risk, taken, look });

const field = of("order_fields", "release");
const page = of("order_pages", "missed");
const filter = of("order_filters", "missed");
const user = of("users", "missed");

/** An identifier of the usual form that nothing has. */
const UNKNOWN_ID = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/** How far an order's time may be ahead while it is read, in milliseconds. */
const AHEAD_MS = 60_000;

/** Every row, by its name, in the order in which they are shown. */
export const CONFORMANCE_ROWS: Readonly<Record<string, ConformanceRow>> = {
  order_amounts_are_numbers: field(
    "Amounts of an order are JSON numbers",
    ofOrders((orders) => {
      const kinds = (name: string) =>
        distinct(orders.map((order) => kindOf(order[name])));
      const currency_amount = kinds("currency_amount");
      const crypto_amount = kinds("crypto_amount");
      const met = new Set([...currency_amount, ...crypto_amount]);
      return [
        [...met].join() === "number",
        { currency_amount, crypto_amount },
      ];
    }),
  ),
  order_status_listed: field(
    "status is one of the six that are described",
    ofOrders((orders) =>
      words(orders.map(({ status }) => status), ORDER_STATUSES)
    ),
  ),
  order_times_form: of("order_fields", "missed")(
    "Times of an order are YYYY-MM-DD HH:MM:SS",
    ofOrders((orders) => {
      const forms = distinct(orders.flatMap(timesOf).map(timeForm));
      return [forms.every((form) => ORDER_TIME_FORM.test(form)), { forms }];
    }),
  ),
  order_times_in_utc: field(
    "No time of an order is ahead of the service's clock",
    ofOrders(async (orders, reader) => {
      const { dateMs, answeredAtMs } = await reader.page("orders", {
        limit: "1",
      });
      const latestMs = Math.max(dateMs ?? 0, answeredAtMs) + AHEAD_MS;
      const ahead = orders.filter((order) =>
        timesOf(order).some((time) =>
          typeof time === "string" && (readServiceTime(time) ?? 0) > latestMs
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
      const without = done.filter(({ tx_id }) =>
        typeof tx_id !== "string" || tx_id === ""
      )
        .length;
      return [without === 0, { successes: done.length, without }];
    }, "no_such_order"),
  ),

  orders_answer_form: page(
    "A list has success true, an array data, and a total",
    onPage({ limit: PAGE }, ({ status, body }) => {
      const success = body.success === true ? "true" : kindOf(body.success);
      const [data, total] = [kindOf(body.data), kindOf(body.total)];
      const isList = status === 200 && success === "true" && data === "array";
      return [isList && total === "number", { status, success, data, total }];
    }),
  ),
  orders_current_form: page(
    "A list of orders has next_cursor_id",
    onPage({ limit: PAGE }, ({ body }) => {
      const next_cursor_id = kindOf(body.next_cursor_id);
      return [next_cursor_id === "text", { next_cursor_id }];
    }),
  ),
  orders_limit_most: page(
    "With a limit of 20 twenty orders come",
    onPage(
      { limit: PAGE },
      ({ rows: { length: rows }, total }) =>
        total !== null && total < 20 ? "few_orders" : [rows === 20, { rows }],
    ),
  ),
  orders_limit_beyond: page(
    "A limit of 21 is refused, or gives no more than 20",
    onPage(
      { limit: "21" },
      ({ status, rows: { length: rows }, total }) =>
        status === 200 && (total ?? 0) < 21
          ? "few_orders"
          : [isRefusal(status) || rows <= 20, { status, rows }],
    ),
  ),
  orders_newest_first: page(
    "Without order_by the newest orders come first",
    inOrder("orders", {}),
  ),
  orders_oldest_first: page(
    "With order_by asc the oldest orders come first",
    inOrder("orders", { order_by: "asc" }),
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
    async (reader) => {
      const first = await newest(reader, "orders", { limit: "2" });
      const whole = await newest(reader, "orders", { limit: "4" });
      if (whole.rows.length < 4) return "few_orders";
      if (first.cursor === "") return "earlier_form";
      const second = await newest(reader, "orders", {
        limit: "2",
        cursor_id: first.cursor,
      });
      const ids = ({ rows }: ReadAnswer) =>
        rows.map(({ order_id }) => order_id);
      const pages = [...ids(first), ...ids(second)];
      const repeated = pages.length - new Set(pages).size;
      const likeOnePage = ids(whole).join() === pages.join();
      const { status, rows: { length: rows } } = second;
      return [
        status === 200 && repeated === 0 && likeOnePage,
        { status, rows, repeated, likeOnePage },
      ];
    },
  ),
  orders_cursor_ends: page(
    "The last page has an empty next_cursor_id, or none",
    ofOrders(async ([order], reader) => {
      const { body } = await newest(reader, "orders", {
        limit: PAGE,
        search_by: String(order?.order_id),
      });
      const cursor = body.next_cursor_id;
      const last = cursor === "" ? "empty" : kindOf(cursor);
      return [last !== "text", { last }];
    }),
  ),

  orders_by_order_id: of("order_filters", "release")(
    "search_by finds an order by its order_id",
    byIds("orders", "order_id", 1),
  ),
  orders_by_click_id: filter(
    "search_by finds an order by its click_id",
    byIds("orders", "click_id", 1),
  ),
  orders_by_twenty_ids: filter(
    "search_by finds twenty orders at once",
    byIds("orders", "order_id", 20),
  ),
  orders_by_unknown_id: of("order_filters", "release")(
    "An id that is not known gives an empty list, not 404",
    onPage(
      { limit: PAGE, search_by: UNKNOWN_ID },
      ({ status, rows: { length: rows } }) => [
        status === 200 && rows === 0,
        { status, rows },
      ],
    ),
  ),
  orders_by_status: filter(
    "status filters",
    ofOrders(async (orders, reader) => {
      const statuses = new Set(orders.map(({ status }) => status));
      const [wanted] = statuses;
      // Where all have one status, a filter that is ignored looks the same.
      if (typeof wanted !== "string" || statuses.size < 2) return "few_orders";
      const { status, rows } = await newest(reader, "orders", {
        limit: PAGE,
        status: wanted,
      });
      const others = rows.filter((one) => one.status !== wanted).length;
      return [
        status === 200 && rows.length > 0 && others === 0,
        { status, rows: rows.length, others },
      ];
    }),
  ),

  user_kyc_listed: of("users", "misread")(
    "lkyc_status and fkyc_status are states that are known",
    async (reader) => {
      const users = await reader.sample("users");
      return users.length === 0 ? "few_users" : words(
        users.flatMap((one) => [one.lkyc_status, one.fkyc_status]),
        VERIFICATION_STATUSES,
      );
    },
  ),
  users_oldest_first: user(
    "With order_by asc the oldest users come first",
    inOrder("users", { order_by: "asc" }),
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
      if (dateMs === null) return [false, { stated: false }];
      // The header has whole seconds, and was written in between.
      const apartMs = dateMs > answeredAtMs
        ? dateMs - answeredAtMs
        : Math.min(0, dateMs + 1000 - askedAtMs);
      const apartSeconds = Math.round(apartMs / 1000);
      return [Math.abs(apartSeconds) <= 5, { stated: true, apartSeconds }];
    }),
  ),
  wrong_parameter_refused: of("answers", "error")(
    "A wrong parameter is answered 4xx with a message",
    onPage({ limit: "1", order_by: "sideways" }, ({ status, body }) => {
      const said = message(body);
      return [isRefusal(status) && said !== null, { status, message: said }];
    }),
  ),
};

const timesOf = ({ created_at, changed_at }: WireRow) => [
  created_at,
  changed_at,
];

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

/** Looks at the sample of orders, where there are some. */
function ofOrders(
  see: (
    orders: readonly WireRow[],
    reader: Reader,
  ) => Seen | NotSeenReason | Promise<Seen | NotSeenReason>,
  none: NotSeenReason = "few_orders",
): ConformanceRow["look"] {
  return async (reader) => {
    const orders = await reader.sample("orders");
    return orders.length === 0 ? none : await see(orders, reader);
  };
}

/** Looks at one page of orders. */
function onPage(
  parameters: ListParameters,
  see: (page: ReadAnswer) => Seen | NotSeenReason,
): ConformanceRow["look"] {
  return async (reader) => see(await newest(reader, "orders", parameters));
}

/** The distinct words of a field, and those that are not documented. */
function words(
  values: readonly unknown[],
  documented: readonly string[],
): Seen {
  const met = distinct(
    values.filter((value) => typeof value === "string" && value !== "")
      .map((value) => word(value, documented)),
  );
  const unknown = met.filter((one) => !documented.includes(one));
  return [unknown.length === 0, { met, unknown }];
}

/** A page, newest first unless the parameters say so. */
function newest(
  reader: Reader,
  list: ListName,
  parameters: ListParameters,
): Promise<ReadAnswer> {
  return reader.page(list, { order_by: "desc", ...parameters });
}

const createdMs = (one: WireRow): number =>
  readServiceTime(String(one.created_at)) ?? Number.NaN;

/** Whether rows come in the order of creation. */
function inOrder(
  list: ListName,
  direction: { readonly order_by?: "asc" },
): ConformanceRow["look"] {
  return async (reader) => {
    const { rows } = await reader.page(list, { limit: PAGE, ...direction });
    const times = rows.map(createdMs);
    if (new Set(times).size < 2) return `few_${list}`;
    const sign = direction.order_by === "asc" ? 1 : -1;
    const outOfOrder =
      times.slice(1).filter((time, at) => (time - (times[at] ?? 0)) * sign < 0)
        .length;
    return [outOfOrder === 0, { rows: rows.length, outOfOrder }];
  };
}

/** Asks from, or up to, a time at which a row was created, not the latest. */
function atEdge(list: ListName, side: "start" | "end"): ConformanceRow["look"] {
  return async (reader) => {
    const { rows } = await newest(reader, list, { limit: PAGE });
    const latest = createdMs(rows[0] ?? {});
    const edge = side === "start"
      ? rows.at(-1)
      : rows.find((row) => createdMs(row) < latest);
    if (edge === undefined || createdMs(edge) === latest) return `few_${list}`;
    const { status, rows: found } = await newest(reader, list, {
      limit: PAGE,
      [LISTS[list][side]]: normaliseTime(String(edge.created_at)) ?? "",
    });
    const count = (sign: number) =>
      found.filter((row) =>
        Math.sign(createdMs(row) - createdMs(edge)) === sign
      )
        .length;
    const [before, same, after] = [count(-1), count(0), count(1)];
    if (side === "end") {
      const agrees = status === 200 && same > 0 && after === 0;
      return [agrees, { status, atEnd: same, after }];
    }
    const agrees = status === 200 && same === 0 && before === 0 && after > 0;
    return [agrees, { status, atStart: same, before, after }];
  };
}

/** Asks for so many rows by what identifies them. */
function byIds(
  list: ListName,
  name: string,
  count: number,
): ConformanceRow["look"] {
  return async (reader) => {
    const wanted = (await reader.sample(list)).map((one) => one[name])
      .filter((id) => typeof id === "string" && id !== "").slice(0, count);
    if (wanted.length < count) {
      return count === 1 ? "no_such_order" : `few_${list}`;
    }
    const { status, rows } = await newest(reader, list, {
      limit: PAGE,
      [LISTS[list].ids]: wanted.join(","),
    });
    const came = new Set(rows.map((one) => one[name]));
    const found = wanted.filter((id) => came.has(id)).length;
    const others = rows.filter((one) => !wanted.includes(one[name])).length;
    return [
      status === 200 && found === count && others === 0,
      { status, asked: count, found, others },
    ];
  };
}
