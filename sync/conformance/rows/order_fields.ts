import { failReasons } from "../../../core/assets/fail_reason.ts";
import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import { ExactNumber } from "../../../core/json/exact_number.ts";
import { countDecimals } from "../../../core/decimal.ts";
import { readServiceTime } from "../../../core/time/service_time.ts";
import {
  CARD_BRANDS,
  ORDER_STATUSES,
  ORDER_WIRE_FIELDS,
  PAYMENT_TYPES,
} from "../observing/documented.ts";
import { notSeen } from "../observing/observation.ts";
import type { Reader } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import {
  distinct,
  fieldName,
  kindOf,
  kindsOf,
  timeForm,
  type WireRow,
  word,
} from "../observing/scrub.ts";

const AMOUNTS = ["currency_amount", "crypto_amount"] as const;
const FEES = [
  "partner_fee",
  "partner_fee_percent",
  "service_fee",
  "service_fee_percent",
] as const;

/** The fields that the description lets an order be without. */
const OPTIONAL: ReadonlySet<string> = new Set([
  ...FEES,
  "processed_through",
  "sc_input_data",
]);

const TEXTS = [...ORDER_WIRE_FIELDS].filter((name) =>
  ![...AMOUNTS, ...FEES, "additional_data"].includes(name)
);

/** A row of the table that looks at orders, and needs one at least. */
function ofOrders<Facts extends ConformanceFacts>(
  see: (orders: readonly WireRow[], reader: Reader) => Facts | Promise<Facts>,
  agrees: (facts: Facts) => boolean,
): ConformanceRow {
  return row(async (reader) => {
    const orders = await reader.sampleOrders();
    if (orders.length === 0) return notSeen("few_orders");
    return await see(orders, reader);
  }, agrees);
}

type ConformanceFacts = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>;

const textsOf = (orders: readonly WireRow[], field: string) =>
  orders.map((order) => order[field]).filter((value): value is string =>
    typeof value === "string" && value !== ""
  );

/** The distinct words of a field, and those that are not documented. */
function words(
  orders: readonly WireRow[],
  field: string,
  documented: readonly string[],
) {
  const met = textsOf(orders, field);
  return {
    met: distinct(met.map((text) => word(text, documented))),
    unknown: distinct(
      met.filter((text) => !documented.includes(text))
        .map((text) => word(text, documented)),
    ),
  };
}

const timesOf = (order: WireRow, field: string): number | null =>
  typeof order[field] === "string" ? readServiceTime(order[field]) : null;

const numberOf = (value: unknown): number =>
  value instanceof ExactNumber ? Number(value.text) : Number.NaN;

/** How far two clocks and a request may be apart, in milliseconds. */
const AHEAD_MS = 60_000;

/** What the rows of orders have. */
export const ORDER_FIELD_ROWS = {
  order_fields_documented: ofOrders(
    (orders) => ({
      rows: orders.length,
      unknown: distinct(
        orders.flatMap((order) => Object.keys(order))
          .filter((name) => !ORDER_WIRE_FIELDS.has(name)).map(fieldName),
      ),
    }),
    ({ unknown }) => unknown.length === 0,
  ),
  order_fields_present: ofOrders(
    (orders) => ({
      rows: orders.length,
      absent: [...ORDER_WIRE_FIELDS].filter((name) =>
        !OPTIONAL.has(name) && orders.some((order) => !(name in order))
      ),
    }),
    ({ absent }) => absent.length === 0,
  ),
  order_amounts_are_numbers: ofOrders(
    (orders) => ({
      currency_amount: kindsOf(orders, "currency_amount"),
      crypto_amount: kindsOf(orders, "crypto_amount"),
    }),
    (facts) => Object.values(facts).every((kinds) => only(kinds, ["number"])),
  ),
  order_fees_are_numbers: row(
    async (reader) => {
      const orders = (await reader.sampleOrders())
        .filter((order) => FEES.some((name) => name in order));
      if (orders.length === 0) return notSeen("no_such_order");
      return {
        rows: orders.length,
        kinds: distinct(FEES.flatMap((name) => kindsOf(orders, name))),
      };
    },
    ({ kinds }) => only(kinds, ["number", "missing"]),
  ),
  order_texts_are_texts: ofOrders(
    (orders) => ({
      rows: orders.length,
      others: distinct(
        TEXTS.flatMap((name) =>
          orders.filter((order) => name in order)
            .map((order) => kindOf(order[name]))
            .filter((kind) => kind !== "text")
            .map((kind) => `${name}: ${kind}`)
        ),
      ),
    }),
    ({ others }) => others.length === 0,
  ),
  order_currency_lower_case: ofOrders(
    (orders) => {
      const codes = textsOf(orders, "currency");
      return {
        rows: codes.length,
        others: codes.filter((code) => !/^[a-z]{3}$/.test(code)).length,
      };
    },
    ({ others }) => others === 0,
  ),
  order_crypto_has_three_parts: ofOrders(
    (orders) => {
      const parts = textsOf(orders, "crypto").map((text) => text.split("."));
      return {
        parts: distinct(parts.map(({ length }) => String(length))),
        types: distinct(parts.map(([, type]) => word(type, ["simple", "sc"]))),
      };
    },
    ({ parts }) => only(parts, ["3"]),
  ),
  order_status_listed: ofOrders(
    (orders) => words(orders, "status", ORDER_STATUSES),
    ({ unknown }) => unknown.length === 0,
  ),
  order_times_form: ofOrders(
    (orders) => ({
      forms: distinct(
        orders.flatMap(({ created_at, changed_at }) =>
          [created_at, changed_at].map(timeForm)
        ),
      ),
    }),
    ({ forms }) => only(forms, ["9999-99-99 99:99:99"]),
  ),
  order_times_in_utc: ofOrders(
    async (orders, reader) => {
      const { dateMs, answeredAtMs } = await reader.orders({
        ...reader.settled,
        limit: "1",
      });
      const nowMs = Math.max(dateMs ?? 0, answeredAtMs);
      return {
        rows: orders.length,
        ahead:
          orders.filter((order) =>
            ["created_at", "changed_at"].some((field) =>
              (timesOf(order, field) ?? 0) > nowMs + AHEAD_MS
            )
          ).length,
      };
    },
    ({ ahead }) => ahead === 0,
  ),
  order_changed_after_created: ofOrders(
    (orders) => ({
      rows: orders.length,
      before: orders.filter((order) => {
        const [created, changed] = ["created_at", "changed_at"].map((field) =>
          timesOf(order, field)
        );
        return (changed ?? Infinity) < (created ?? 0);
      }).length,
    }),
    ({ before }) => before === 0,
  ),
  order_success_has_transaction: row(
    async (reader) => {
      const done = (await reader.sampleOrders())
        .filter(({ status }) => status === "success");
      if (done.length === 0) return notSeen("no_such_order");
      return {
        successes: done.length,
        without:
          done.filter(({ tx_id }) => typeof tx_id !== "string" || tx_id === "")
            .length,
      };
    },
    ({ without }) => without === 0,
  ),
  order_fail_reason_listed: row(
    async (reader) => {
      const found = words(
        await reader.sampleOrders(),
        "fail_reason",
        failReasons,
      );
      return found.met.length === 0 ? notSeen("no_such_order") : found;
    },
    ({ unknown }) => unknown.length === 0,
  ),
  order_payment_type_listed: ofOrders(
    (orders) => words(orders, "payment_type", PAYMENT_TYPES),
    ({ unknown }) => unknown.length === 0,
  ),
  order_card_brand_upper_case: ofOrders(
    (orders) => words(orders, "card_brand", CARD_BRANDS),
    ({ unknown }) => unknown.length === 0,
  ),
  fiat_decimals: ofOrders(
    (orders) => ({
      rows: orders.length,
      most: Math.max(
        ...orders.map(({ currency_amount: amount }) =>
          amount instanceof ExactNumber && !/e/i.test(amount.text)
            ? countDecimals(amount.text)
            : 0
        ),
      ),
    }),
    ({ most }) => most <= 2,
  ),
  fee_percent_is_share: row(
    async (reader) => {
      const shares = (await reader.sampleOrders()).flatMap((order) => {
        const fee = numberOf(order.partner_fee);
        const amount = numberOf(order.currency_amount);
        const stated = numberOf(order.partner_fee_percent);
        return order.currency === "usd" && fee > 0 && amount > 0 && stated > 0
          ? [stated / (fee / amount)]
          : [];
      });
      if (shares.length === 0) return notSeen("no_such_order");
      return {
        shares: shares.filter((ratio) => isAbout(ratio, 1)).length,
        percents: shares.filter((ratio) => isAbout(ratio, 100)).length,
        neither:
          shares.filter((ratio) => !isAbout(ratio, 1) && !isAbout(ratio, 100))
            .length,
      };
    },
    ({ shares, percents }) => shares > percents,
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;

/** Whether a ratio is nearer to this one than a fee's rounding explains. */
function isAbout(ratio: number, wanted: number): boolean {
  return ratio > wanted / 3 && ratio < wanted * 3;
}

/** Whether these are the only ones. */
export function only(
  found: readonly string[],
  allowed: readonly string[],
): boolean {
  return found.every((one) => allowed.includes(one));
}
