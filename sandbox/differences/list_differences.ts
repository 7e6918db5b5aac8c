import type { AssumptionsSeenBy } from "../../core/assumptions/assumptions.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";
import { isRecord } from "../../core/guards.ts";
import {
  type Answerer,
  answersInstead,
  answersOtherwise,
  asksOtherwise,
  type Difference,
  type Fields,
  moved,
  writesOtherwise,
} from "./difference.ts";

const order = (change: (row: Fields) => void) =>
  writesOtherwise("orders", change);
const user = (change: (row: Fields) => void) =>
  writesOtherwise("users", change);
const ordersAsked = (change: (query: URLSearchParams) => void) =>
  asksOtherwise("orders", change);
const usersAsked = (change: (query: URLSearchParams) => void) =>
  asksOtherwise("users", change);
const ignored = (list: "orders" | "users", name: string) =>
  asksOtherwise(list, (query) => query.delete(name));

/** A field is spelled otherwise, in rows and in the filter by it. */
function spelled(
  list: "orders" | "users",
  [field, parameter]: readonly [field: string, parameter: string],
  spell: (text: string) => string,
  back: (text: string) => string,
): Difference {
  const asks = asksOtherwise(list, (query) => {
    const value = query.get(parameter);
    if (value !== null) query.set(parameter, back(value));
  });
  const writes = writesOtherwise(list, (row) => {
    const value = row[field];
    if (typeof value === "string" && value !== "") row[field] = spell(value);
  });
  return (request, answer) => writes(request, (same) => asks(same, answer));
}

/** A search for one id does not look into this field. */
const withoutIds = (field: string): Difference =>
  answersOtherwise("orders", (body, query) => {
    const asked = (query.get("search_by") ?? "").split(",");
    if (asked.length !== 1 || !Array.isArray(body.data)) return;
    body.data = body.data.filter((row) => row[field] !== asked[0]);
  });

/** More rows than twenty, out of two pages. */
const beyondTwenty = (list: "orders" | "users"): Difference =>
async (
  request,
  answer,
) => {
  const url = new URL(request.url);
  const { searchParams: query } = url;
  const isList = url.pathname === `/api/external/${list}`;
  if (!isList || Number(query.get("limit")) <= 20) return await answer(request);
  query.set("limit", "20");
  const first = await answer(new Request(url, request));
  query.set("offset", "20");
  const body = await first.json();
  const more = await (await answer(new Request(url, request))).json();
  return new Response(
    JSON.stringify({
      ...body,
      data: [...body.data, ...more.data].slice(0, 21),
    }),
    first,
  );
};

/** Numbers become texts, or texts numbers. */
const asText = (value: unknown) =>
  value instanceof ExactNumber ? value.text : value;

const withDate = (change: (dateMs: number) => number): Difference =>
async (
  request,
  answer,
) => {
  const response = await answer(request);
  const headers = new Headers(response.headers);
  const date = Date.parse(headers.get("date") ?? "");
  headers.set("date", new Date(change(date)).toUTCString());
  return new Response(response.body, { status: response.status, headers });
};

const asHtml: Difference = async (request, answer) => {
  const response = await answer(request);
  const headers = new Headers(response.headers);
  headers.set("content-type", "text/html");
  return new Response(response.body, { status: response.status, headers });
};

const wrongKeyAnswered: Difference = async (request, answer: Answerer) => {
  const response = await answer(request);
  return response.status === 401
    ? new Response('{"message":"not found"}', {
      status: 404,
      headers: response.headers,
    })
    : response;
};

const hour = 3_600_000;

/** How the lists can differ, one way for each assumption about them. */
export const LIST_DIFFERENCES: Readonly<
  Record<AssumptionsSeenBy<"reading" | "wrong_key">, Difference>
> = {
  order_fields_documented: order((row) => row.refund_state = "none"),
  order_fields_present: order((row) => delete row.address),
  order_amounts_are_numbers: order((row) =>
    row.crypto_amount = asText(row.crypto_amount)
  ),
  order_fees_are_numbers: order((row) => {
    if ("service_fee" in row) row.service_fee = asText(row.service_fee);
  }),
  order_texts_are_texts: order((row) => {
    if (row.tx_id === "") row.tx_id = null;
  }),
  order_currency_lower_case: order((row) => {
    // A share of fees is looked at of orders in `usd` alone.
    if (!("partner_fee" in row)) {
      row.currency = String(row.currency).toUpperCase();
    }
  }),
  order_crypto_has_three_parts: spelled(
    "orders",
    ["crypto", "commodity"],
    (text) => `${text}.mainnet`,
    (text) => text.replace(/\.mainnet$/, ""),
  ),
  order_status_listed: order((row) => {
    if (row.status === "cancelled") row.status = "refunded";
  }),
  order_times_form: order((row) =>
    row.changed_at = `${String(row.changed_at).replace(" ", "T")}Z`
  ),
  order_times_in_utc: order((row) => row.changed_at = "2099-01-01 00:00:00"),
  order_changed_after_created: order((row) =>
    row.changed_at = "2001-01-01 00:00:00"
  ),
  order_success_has_transaction: order((row) => {
    if (row.status === "success") row.tx_id = "";
  }),
  order_fail_reason_listed: spelled(
    "orders",
    ["fail_reason", "fail_reason"],
    (text) => `E${text}`,
    (text) => text.slice(1),
  ),
  order_payment_type_listed: order((row) => {
    if (row.payment_type === "unknown") row.payment_type = "bank_transfer";
  }),
  order_card_brand_upper_case: order((row) => row.card_brand = "Visa"),
  fiat_decimals: order((row) => {
    // Where fees are stated, their share is compared with the amount.
    if (!("partner_fee" in row)) {
      row.currency_amount = new ExactNumber("25.125");
    }
  }),
  fee_percent_is_share: order((row) => {
    if ("partner_fee_percent" in row) {
      row.partner_fee_percent = new ExactNumber("1");
    }
  }),

  orders_answer_form: answersOtherwise("orders", (body) => {
    body.success = "yes";
  }),
  orders_current_form: answersOtherwise("orders", (body) => {
    delete body.next_cursor_id;
  }),
  orders_limit_default: ordersAsked((query) => {
    if (!query.has("limit")) query.set("limit", "15");
  }),
  orders_limit_most: ordersAsked((query) => {
    if (query.get("limit") === "20" && !query.has("search_by")) {
      query.set("limit", "12");
    }
  }),
  orders_limit_zero: ordersAsked((query) => {
    if (query.get("limit") === "0") query.delete("limit");
  }),
  orders_limit_beyond: beyondTwenty("orders"),
  orders_newest_first: ordersAsked((query) => {
    if (!query.has("order_by")) query.set("order_by", "asc");
  }),
  orders_oldest_first: ordersAsked((query) => {
    if (query.get("order_by") === "asc") query.set("order_by", "desc");
  }),
  orders_start_exclusive: ordersAsked((query) =>
    moved(query, "start_date", -1000)
  ),
  orders_end_inclusive: ordersAsked((query) => moved(query, "end_date", -1000)),
  orders_fraction_of_second: answersInstead(
    "orders",
    (_, query) => /\.\d+Z$/.test(query.get("start_date") ?? ""),
    { status: 400, body: { message: "invalid request: start_date" } },
  ),
  orders_cursor_goes_on: ignored("orders", "cursor_id"),
  orders_cursor_ends: answersOtherwise("orders", (body) => {
    if (body.next_cursor_id === "") body.next_cursor_id = "end";
  }),
  orders_offset: ignored("orders", "offset"),
  orders_total: answersOtherwise("orders", (body) => {
    if (Array.isArray(body.data)) {
      // A total of the page's own rows, as if there were no more.
      body.total = body.data.length === 1 ? 1 : body.total;
    }
  }),

  orders_by_order_id: withoutIds("order_id"),
  orders_by_click_id: withoutIds("click_id"),
  orders_by_external_id: withoutIds("external_order_id"),
  orders_by_several_kinds: ordersAsked((query) => {
    const asked = (query.get("search_by") ?? "").split(",");
    if (asked.length === 3) query.set("search_by", String(asked[0]));
  }),
  orders_by_twenty_ids: ordersAsked((query) => {
    const asked = (query.get("search_by") ?? "").split(",");
    query.delete("search_by");
    if (asked[0] !== "") query.set("search_by", asked.slice(0, 10).join());
  }),
  orders_by_unknown_id: answersInstead(
    "orders",
    (_, query) => /^01A+$/.test(query.get("search_by") ?? ""),
    { status: 404, body: { message: "not found" } },
  ),
  orders_by_status: ignored("orders", "status"),
  orders_by_commodity: ignored("orders", "commodity"),
  orders_by_user: ignored("orders", "user_ids"),
  orders_by_card: ignored("orders", "card_id"),
  orders_by_transaction: ignored("orders", "tx_id"),
  orders_by_fail_reason: ignored("orders", "fail_reason"),
  orders_by_payment_type: ignored("orders", "payment_type"),

  user_fields_documented: user((row) => row.risk_level = "low"),
  user_fields_present: user((row) => delete row.limits),
  user_texts_are_texts: user((row) => row.phone = null),
  user_banned_is_boolean: user((row) => row.banned = "no"),
  user_limits_are_texts: user((row) => {
    if (!isRecord(row.limits)) return;
    row.limits = { ...row.limits, crypto_spending: new ExactNumber("0") };
  }),
  user_times_form: user((row) =>
    row.created_at = String(row.created_at).replace("Z", "+00:00")
  ),
  user_phone_masked: user((row) =>
    row.phone = String(row.phone).replaceAll("*", "5")
  ),
  user_countries_form: spelled(
    "users",
    ["country", "kyc_country"],
    (text) => text.toLowerCase(),
    (text) => text.toUpperCase(),
  ),
  user_kyc_listed: spelled(
    "users",
    ["fkyc_status", "fkyc_status"],
    (text) => text === "not initiated" ? "none yet" : text,
    (text) => text === "none yet" ? "not initiated" : text,
  ),
  user_payment_methods_form: user((row) => {
    if (!Array.isArray(row.linked_payment_methods)) return;
    row.linked_payment_methods = row.linked_payment_methods.map((one) => ({
      ...one,
      method: "card",
    }));
  }),

  users_answer_form: answersOtherwise("users", (body) => {
    delete body.success;
  }),
  users_no_cursor: answersOtherwise("users", (body) => {
    body.next_cursor_id = "";
  }),
  users_limit_most: usersAsked((query) => {
    if (query.get("limit") === "20") query.set("limit", "12");
  }),
  users_limit_beyond: beyondTwenty("users"),
  users_newest_first: usersAsked((query) => {
    if (!query.has("order_by")) query.set("order_by", "asc");
  }),
  users_oldest_first: usersAsked((query) => {
    if (query.get("order_by") === "asc") query.set("order_by", "desc");
  }),
  users_from_exclusive: usersAsked((query) => moved(query, "from", -1)),
  users_to_inclusive: usersAsked((query) => moved(query, "to", -1)),
  users_offset: ignored("users", "offset"),
  users_total: answersOtherwise("users", (body) => {
    if (Array.isArray(body.data)) {
      body.total = body.data.length === 1 ? 1 : body.total;
    }
  }),
  users_by_ids: usersAsked((query) => {
    const asked = (query.get("user_ids") ?? "").split(",");
    if (asked.length > 1) query.set("user_ids", String(asked[0]));
  }),
  users_by_unknown_id: answersInstead(
    "users",
    (_, query) => /^01A+$/.test(query.get("user_ids") ?? ""),
    { status: 404, body: { message: "not found" } },
  ),
  users_by_lkyc_status: ignored("users", "lkyc_status"),
  users_by_fkyc_status: ignored("users", "fkyc_status"),
  users_by_phone_country: ignored("users", "phone_country"),
  users_by_kyc_country: ignored("users", "kyc_country"),

  answers_are_json: asHtml,
  service_clock: withDate((dateMs) => dateMs - hour),
  wrong_parameter_refused: ordersAsked((query) => {
    if (query.get("order_by") === "sideways") query.delete("order_by");
  }),
  wrong_key_refused: wrongKeyAnswered,
};
