import {
  normaliseTime,
  readServiceTime,
} from "../../core/time/service_time.ts";
import { ORDER_STATUSES } from "../../core/wire/order.ts";
import { VERIFICATION_STATUSES } from "../../core/wire/user.ts";
import {
  type ListName,
  type ListParameters,
  LISTS,
  PAGE,
  type ReadAnswer,
  type Reader,
} from "./reader.ts";
import {
  distinct,
  kindOf,
  kindsOf,
  message,
  ORDER_TIME_FORM,
  timeForm,
  type WireRow,
  word,
} from "./scrub.ts";

/**
 * One fact of what was seen. None holds an identifier, an amount, an address or
 * a key: counts, statuses, kinds of values, forms of times, documented words.
 */
export type Fact = string | number | boolean | null | readonly string[];

export type Facts = Readonly<Record<string, Fact>>;

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

/** One thing that a decision of ours takes for granted of the service. */
export interface ConformanceRow {
  readonly subject: keyof typeof SUBJECTS;
  readonly risk: keyof typeof RISKS;
  /** What is assumed, in one sentence. */
  readonly taken: string;
  /** Looks, and returns what it saw, or why there was nothing to see. */
  readonly look: (reader: Reader) => Promise<Facts | NotSeenReason>;
  /** Whether what was seen agrees with what is assumed. */
  readonly agrees: (facts: Facts) => boolean;
}

/** How a row looks and judges; the facts keep their own names and types. */
type Check = Pick<ConformanceRow, "look" | "agrees">;

function check<Seen extends Facts>(
  look: (reader: Reader) => Promise<Seen | NotSeenReason>,
  agrees: (facts: Seen) => boolean,
): Check {
  return { look, agrees: agrees as ConformanceRow["agrees"] };
}

const of = (subject: ConformanceRow["subject"]) =>
(
  risk: ConformanceRow["risk"],
  taken: string,
  seen: Check,
): ConformanceRow => ({ subject, risk, taken, ...seen });

const field = of("order_fields");
const page = of("order_pages");
const filter = of("order_filters");
const user = of("users");
const any = of("answers");

/** An identifier of the usual form that nothing has. */
const UNKNOWN_ID = "01AAAAAAAAAAAAAAAAAAAAAAAA";

/** Every row, by its name, in the order in which they are shown. */
export const CONFORMANCE_ROWS: Readonly<Record<string, ConformanceRow>> = {
  order_amounts_are_numbers: field(
    "release",
    "Amounts of an order are JSON numbers",
    ofOrders(
      (orders) => ({
        currency_amount: kindsOf(orders, "currency_amount"),
        crypto_amount: kindsOf(orders, "crypto_amount"),
      }),
      (facts) => Object.values(facts).flat().every((kind) => kind === "number"),
    ),
  ),
  order_status_listed: field(
    "release",
    "status is one of the six that are described",
    ofOrders(
      (orders) => words(orders.map(({ status }) => status), ORDER_STATUSES),
      ({ unknown }) => unknown.length === 0,
    ),
  ),
  order_times_form: field(
    "missed",
    "Times of an order are YYYY-MM-DD HH:MM:SS",
    ofOrders(
      (orders) => ({
        forms: distinct(
          orders.flatMap(({ created_at, changed_at }) =>
            [created_at, changed_at].map(timeForm)
          ),
        ),
      }),
      ({ forms }) => forms.every((form) => ORDER_TIME_FORM.test(form)),
    ),
  ),
  order_times_in_utc: field(
    "release",
    "No time of an order is ahead of the service's clock",
    ofOrders(
      async (orders, reader) => {
        const { dateMs, answeredAtMs } = await reader.page("orders", {
          limit: "1",
        });
        const latestMs = Math.max(dateMs ?? 0, answeredAtMs) + AHEAD_MS;
        return {
          rows: orders.length,
          ahead:
            orders.filter(({ created_at, changed_at }) =>
              [created_at, changed_at].some((time) =>
                typeof time === "string" &&
                (readServiceTime(time) ?? 0) > latestMs
              )
            ).length,
        };
      },
      ({ ahead }) => ahead === 0,
    ),
  ),
  order_success_has_transaction: field(
    "release",
    "An order with success names its transaction",
    ofOrders(
      (orders) => {
        const done = orders.filter(({ status }) => status === "success");
        if (done.length === 0) return "no_such_order";
        const without = done.filter(({ tx_id }) =>
          typeof tx_id !== "string" || tx_id === ""
        );
        return { successes: done.length, without: without.length };
      },
      ({ without }) => without === 0,
      "no_such_order",
    ),
  ),

  orders_answer_form: page(
    "missed",
    "A list has success true, an array data, and a total",
    onPage(
      { limit: PAGE },
      ({ status, body: { success, data, total } }) => ({
        status,
        success: success === true ? "true" : kindOf(success),
        data: kindOf(data),
        total: kindOf(total),
      }),
      ({ status, success, data, total }) =>
        status === 200 && success === "true" && data === "array" &&
        total === "number",
    ),
  ),
  orders_current_form: page(
    "missed",
    "A list of orders has next_cursor_id",
    onPage(
      { limit: PAGE },
      ({ body }) => ({ next_cursor_id: kindOf(body.next_cursor_id) }),
      ({ next_cursor_id }) => next_cursor_id === "text",
    ),
  ),
  orders_limit_most: page(
    "missed",
    "With a limit of 20 twenty orders come",
    onPage(
      { limit: PAGE },
      ({ rows, total }) =>
        total !== null && total < 20 ? "few_orders" : { rows: rows.length },
      ({ rows }) => rows === 20,
    ),
  ),
  orders_limit_beyond: page(
    "missed",
    "A limit of 21 is refused, or gives no more than 20",
    onPage(
      { limit: "21" },
      ({ status, rows, total }) =>
        status === 200 && (total ?? 0) < 21
          ? "few_orders"
          : { status, rows: rows.length },
      ({ status, rows }) => isRefusal(status) || rows <= 20,
    ),
  ),
  orders_newest_first: page(
    "missed",
    "Without order_by the newest orders come first",
    inOrder("orders", null),
  ),
  orders_oldest_first: page(
    "missed",
    "With order_by asc the oldest orders come first",
    inOrder("orders", "asc"),
  ),
  orders_start_exclusive: page(
    "missed",
    "start_date leaves out orders created at that second",
    edge("orders", "start"),
  ),
  orders_end_inclusive: page(
    "missed",
    "end_date takes in orders created at that second",
    edge("orders", "end"),
  ),
  orders_cursor_goes_on: page(
    "missed",
    "next_cursor_id leads to the page after, without a gap",
    check(
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
        return {
          status: second.status,
          rows: second.rows.length,
          repeated: pages.length - new Set(pages).size,
          likeOnePage: ids(whole).join() === pages.join(),
        };
      },
      ({ status, repeated, likeOnePage }) =>
        status === 200 && repeated === 0 && likeOnePage,
    ),
  ),
  orders_cursor_ends: page(
    "missed",
    "The last page has an empty next_cursor_id, or none",
    ofOrders(
      async ([order], reader) => {
        const { body } = await newest(reader, "orders", {
          limit: PAGE,
          search_by: String(order?.order_id),
        });
        const cursor = body.next_cursor_id;
        return { last: cursor === "" ? "empty" : kindOf(cursor) };
      },
      ({ last }) => last !== "text",
    ),
  ),

  orders_by_order_id: filter(
    "release",
    "search_by finds an order by its order_id",
    byIds("orders", "order_id", 1),
  ),
  orders_by_click_id: filter(
    "missed",
    "search_by finds an order by its click_id",
    byIds("orders", "click_id", 1),
  ),
  orders_by_twenty_ids: filter(
    "missed",
    "search_by finds twenty orders at once",
    byIds("orders", "order_id", 20),
  ),
  orders_by_unknown_id: filter(
    "release",
    "An id that is not known gives an empty list, not 404",
    onPage(
      { limit: PAGE, search_by: UNKNOWN_ID },
      ({ status, rows }) => ({ status, rows: rows.length }),
      ({ status, rows }) => status === 200 && rows === 0,
    ),
  ),
  orders_by_status: filter(
    "missed",
    "status filters",
    ofOrders(
      async (orders, reader) => {
        const statuses = new Set(orders.map(({ status }) => status));
        const [wanted] = statuses;
        // Where all have one status, a filter that is ignored looks the same.
        if (typeof wanted !== "string" || statuses.size < 2) {
          return "few_orders";
        }
        const { status, rows } = await newest(reader, "orders", {
          limit: PAGE,
          status: wanted,
        });
        const others = rows.filter((one) => one.status !== wanted);
        return { status, rows: rows.length, others: others.length };
      },
      ({ status, rows, others }) => status === 200 && rows > 0 && others === 0,
    ),
  ),

  user_kyc_listed: user(
    "misread",
    "lkyc_status and fkyc_status are states that are known",
    check(
      async (reader) => {
        const users = await reader.sample("users");
        if (users.length === 0) return "few_users";
        return words(
          users.flatMap(({ lkyc_status, fkyc_status }) => [
            lkyc_status,
            fkyc_status,
          ]),
          VERIFICATION_STATUSES,
        );
      },
      ({ unknown }) => unknown.length === 0,
    ),
  ),
  users_oldest_first: user(
    "missed",
    "With order_by asc the oldest users come first",
    inOrder("users", "asc"),
  ),
  users_from_exclusive: user(
    "missed",
    "from leaves out users created at that time",
    edge("users", "start"),
  ),
  users_to_inclusive: user(
    "missed",
    "to takes in users created at that time",
    edge("users", "end"),
  ),
  users_by_ids: user(
    "missed",
    "user_ids finds several users at once",
    byIds("users", "user_id", 2),
  ),

  service_clock: any(
    "release",
    "Answers have a Date, within five seconds of our clock",
    onPage(
      { limit: "1" },
      ({ dateMs, askedAtMs, answeredAtMs }) => {
        if (dateMs === null) return { stated: false, apartSeconds: 0 };
        // The header has whole seconds, and was written in between.
        const apartMs = dateMs > answeredAtMs
          ? dateMs - answeredAtMs
          : Math.min(0, dateMs + 1000 - askedAtMs);
        return { stated: true, apartSeconds: Math.round(apartMs / 1000) };
      },
      ({ stated, apartSeconds }) => stated && Math.abs(apartSeconds) <= 5,
    ),
  ),
  wrong_parameter_refused: any(
    "error",
    "A wrong parameter is answered 4xx with a message",
    onPage(
      { limit: "1", order_by: "sideways" },
      ({ status, body }) => ({ status, message: message(body) }),
      ({ status, message }) => isRefusal(status) && message !== null,
    ),
  ),
};

/** How far an order's time may be ahead while it is read, in milliseconds. */
const AHEAD_MS = 60_000;

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500;
}

/** Looks at the sample of orders, where there are some. */
function ofOrders<Seen extends Facts>(
  see: (
    orders: readonly WireRow[],
    reader: Reader,
  ) => Seen | NotSeenReason | Promise<Seen | NotSeenReason>,
  agrees: (facts: Seen) => boolean,
  none: NotSeenReason = "few_orders",
): Check {
  return check(async (reader) => {
    const orders = await reader.sample("orders");
    return orders.length === 0 ? none : await see(orders, reader);
  }, agrees);
}

/** Looks at one page of orders. */
function onPage<Seen extends Facts>(
  parameters: ListParameters,
  see: (page: ReadAnswer) => Seen | NotSeenReason,
  agrees: (facts: Seen) => boolean,
): Check {
  return check(
    async (reader) => see(await newest(reader, "orders", parameters)),
    agrees,
  );
}

/** The distinct words of a field, and those that are not documented. */
function words(values: readonly unknown[], documented: readonly string[]) {
  const met = distinct(
    values.filter((value) => typeof value === "string" && value !== "")
      .map((value) => word(value, documented)),
  );
  return { met, unknown: met.filter((one) => !documented.includes(one)) };
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

/** A creation time as a parameter. */
const asParameter = (one: WireRow): string =>
  normaliseTime(String(one.created_at)) ?? "";

/** Whether rows come in the order of creation. */
function inOrder(
  list: ListName,
  direction: "asc" | null,
): Check {
  return check(
    async (reader) => {
      const { rows } = await reader.page(list, {
        limit: PAGE,
        ...(direction !== null && { order_by: direction }),
      });
      const times = rows.map(createdMs);
      if (new Set(times).size < 2) return `few_${list}`;
      const sign = direction === "asc" ? 1 : -1;
      return {
        rows: rows.length,
        outOfOrder:
          times.slice(1).filter((time, at) =>
            (time - (times[at] ?? 0)) * sign < 0
          ).length,
      };
    },
    ({ outOfOrder }) => outOfOrder === 0,
  );
}

/**
 * Filters at the creation time of a row: what was created at that time is left
 * out by the start, and taken in by the end.
 */
function edge(of: ListName, side: "start" | "end"): Check {
  return check(
    async (reader) => {
      const { rows: whole } = await newest(reader, of, { limit: PAGE });
      const times = whole.map(createdMs);
      const latest = times[0] ?? Number.NaN;
      const at = side === "start"
        ? whole.at(-1)
        : whole.find((_, place) => (times[place] ?? Number.NaN) < latest);
      const hasLater = at !== undefined &&
        times.some((time) => time > createdMs(at));
      if (at === undefined || !hasLater) return `few_${of}`;
      const { status, rows } = await newest(reader, of, {
        limit: PAGE,
        [LISTS[of][side]]: asParameter(at),
      });
      const count = (is: (apartMs: number) => boolean) =>
        rows.filter((one) => is(createdMs(one) - createdMs(at))).length;
      const same = count((apartMs) => apartMs === 0);
      const after = count((apartMs) => apartMs > 0);
      return side === "start"
        ? { status, atStart: same, before: count((ms) => ms < 0), after }
        : { status, atEnd: same, after };
    },
    ({ status, atStart, atEnd, before, after }) =>
      status === 200 &&
      (side === "start"
        ? atStart === 0 && before === 0 && Number(after) > 0
        : Number(atEnd) > 0 && after === 0),
  );
}

/** Asks for so many rows by what identifies them. */
function byIds(of: ListName, name: string, count: number): Check {
  return check(
    async (reader) => {
      const wanted = (await reader.sample(of)).filter((one) =>
        typeof one[name] === "string" && one[name] !== ""
      ).slice(0, count);
      if (wanted.length < count) {
        return count === 1 ? "no_such_order" : `few_${of}`;
      }
      const asked = wanted.map((one) => String(one[name]));
      const { status, rows } = await newest(reader, of, {
        limit: PAGE,
        [LISTS[of].ids]: asked.join(","),
      });
      const came = rows.map((one) => String(one[name]));
      return {
        status,
        asked: asked.length,
        found: asked.filter((id) => came.includes(id)).length,
        others: came.filter((id) => !asked.includes(id)).length,
      };
    },
    ({ status, asked, found, others }) =>
      status === 200 && found === asked && others === 0,
  );
}
