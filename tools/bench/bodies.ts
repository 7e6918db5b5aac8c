/** The deliveries of one order's life: four of its user, three of its own. */
const LIFE = [
  "login",
  "card_added",
  "verify_success",
  "payment_started",
  "transfer_started",
  "order_complete",
  "logout",
];

/** Orders whose lives overlap, as on a busy day. */
const OVERLAPPING = 50;

/**
 * The delivery of this number, as the service documents it. Ids are as in
 * reality: those of orders in order, everything else as good as random. The same
 * number gives the same body.
 */
export function webhookBody(number: number, shape: "lives" | "new"): string {
  if (shape === "new") return bodyOf(number, "order_complete");
  const block = Math.floor(number / (OVERLAPPING * LIFE.length));
  const within = number % (OVERLAPPING * LIFE.length);
  const order = block * OVERLAPPING + within % OVERLAPPING;
  return bodyOf(order, LIFE[Math.floor(within / OVERLAPPING)] ?? "logout");
}

function bodyOf(order: number, type: string): string {
  const isOfUser = !/^(payment|transfer|order)_/.test(type);
  // A user buys five times.
  const user = Math.floor(order / 5);
  return `{"type":"${type}","click_id":"${uuid(order, 1)}",` +
    `"hpp_session_id":"${uuid(order, 2)}",` +
    (isOfUser
      ? ""
      : `"order":{"id":"01JDRD${
        String(order).padStart(20, "0")
      }","base":"POL","base_amount":"0.212345678901234567","quote":"USD",` +
        `"quote_amount":"5.00","address":"0x${hex(order, 3, 40)}",` +
        `"transaction_id":${
          type === "payment_started" ? "null" : `"0x${hex(order, 4, 64)}"`
        },"external_order_id":"S-${hex(order, 5, 12)}"},`) +
    `"user":{"user_id":"01JDSR${hex(user, 6, 20).toUpperCase()}",` +
    `"verification_status":{"fkyc":{"state":"success"},` +
    `"lkyc":{"state":"success"}}}}`;
}

function uuid(number: number, kind: number): string {
  const form = /^(.{8})(.{4})(.{3})(.{3})(.{12})$/;
  return hex(number, kind, 30).replace(form, "$1-$2-4$3-a$4-$5");
}

/** Digits that no number before or after resembles. */
function hex(number: number, kind: number, length: number): string {
  let text = "";
  for (let part = 0; text.length < length; part++) {
    let bits = Math.imul(number + 1, 0x9e3779b1) ^
      Math.imul(kind * 16 + part + 1, 0x85ebca6b);
    bits = Math.imul(bits ^ bits >>> 16, 0x7feb352d);
    bits = Math.imul(bits ^ bits >>> 15, 0x846ca68b);
    text += ((bits ^ bits >>> 16) >>> 0).toString(16).padStart(8, "0");
  }
  return text.slice(0, length);
}
