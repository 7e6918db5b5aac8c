import { isDeeperThan } from "../json/json_depth.ts";
import { isLongText } from "./identifier.ts";
import type { Order } from "./order.ts";

/** The most characters of an amount; a longer text is not calculated with. */
export const LONGEST_DECIMAL = 200;

type Row = Readonly<Record<string, unknown>>;
type OrderRow = { readonly [Name in keyof Order]?: unknown };

const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
/** More than all fields weigh together. */
const odd = -100;

/**
 * Looks at the fields of an order in a fiftieth of the time that reading it
 * field by field takes. They are named here, because the engine reads
 * `row.status` ten times as fast as `row[name]`: a field that is not named is
 * only slower to read.
 *
 * @param row The decoded row, without NUL in any text.
 * @returns How many fields the row has of those named here, all of them sound;
 * zero or less where that is not certain.
 */
export function soundFields(row: Row): number {
  const order: OrderRow = row;
  const { status, additional_data: more } = order;
  if (typeof status !== "string" || status === "") return 0;
  if (typeof more === "object" && isDeeperThan(more)) return 0;
  return (more === undefined ? 1 : 2) +
    identifier(order.order_id) +
    identifier(order.click_id) +
    identifier(order.external_order_id) +
    text(order.currency) +
    decimal(order.currency_amount) +
    text(order.crypto) +
    decimal(order.crypto_amount) +
    identifier(order.user_id) +
    identifier(order.card_id) +
    text(order.created_at) +
    text(order.changed_at) +
    text(order.tx_id) +
    text(order.processed_through) +
    text(order.card_brand) +
    text(order.fail_reason) +
    text(order.payment_type) +
    text(order.address) +
    decimal(order.partner_fee) +
    decimal(order.partner_fee_percent) +
    decimal(order.service_fee) +
    decimal(order.service_fee_percent) +
    text(order.sc_input_data);
}

/** What a field weighs: one when it is there, none when it is not. */
function text(held: unknown): number {
  if (typeof held === "string" || held === null) return 1;
  return held === undefined ? 0 : odd;
}

function identifier(held: unknown): number {
  return isLongText(held) ? odd : text(held);
}

function decimal(held: unknown): number {
  if (typeof held !== "string") return text(held);
  return held.length <= LONGEST_DECIMAL && isPlainDecimal(held) ? 1 : odd;
}

/** `-?\d+(\.\d+)?`, in a quarter of the time of the expression. */
function isPlainDecimal(held: string): boolean {
  let digits = 0;
  let point = false;
  for (let at = held.charCodeAt(0) === MINUS ? 1 : 0; at < held.length; at++) {
    const char = held.charCodeAt(at);
    if (char >= ZERO && char <= NINE) {
      digits++;
    } else if (char === POINT && !point && digits > 0) {
      point = true;
      digits = 0;
    } else {
      return false;
    }
  }
  return digits > 0;
}
