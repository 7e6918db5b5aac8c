import { isOneOf, isRecord } from "../guards.ts";
import { parseExact, parseJson } from "../json/json.ts";
import { isLongText, LONGEST_IDENTIFIER } from "../wire/objects.ts";
import {
  ORDER_EVENT_TYPES,
  type UnrecognisedWebhook,
  type WebhookEvent,
  type WebhookOrder,
  type WebhookType,
  webhookType,
  type WebhookUser,
} from "./webhook_event.ts";

const decoder = new TextDecoder();

/**
 * Reads the body of a webhook.
 *
 * Only what an event cannot do without decides whether it is recognised: a
 * documented `type`; an order with an id that is not empty for order events; a
 * `user_id` and a `status` for `otp_status`. Anything else that is missing or
 * of another type than documented is left out. Values of open lists are kept
 * as sent. An amount that comes as a JSON number is kept as its exact decimal.
 * The same bytes always give the same, whatever the process has parsed before.
 *
 * @param body The bytes or the text received.
 * @returns The event, or the reasons why it is not one of the documented ones.
 * @throws {SyntaxError} When `body` is not JSON. Well-formed JSON never throws.
 *
 * @example Every case, checked by the compiler
 * ```ts
 * import { parseWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const event = parseWebhook(JSON.stringify({
 *   type: "order_canceled",
 *   click_id: "basket-7",
 *   order: { id: "01HX", quote: "USD", quote_amount: "12.30" },
 * }));
 * assert.equal(event.type, "order_cancelled");
 *
 * const unknown = parseWebhook(`{"type":"coffee_brewed"}`);
 * assert(unknown.type === "unrecognised");
 * assert.deepEqual(unknown.reasons, ["Unknown type: coffee_brewed"]);
 * ```
 */
export function parseWebhook(
  body: string | Uint8Array,
): WebhookEvent | UnrecognisedWebhook {
  const text = typeof body === "string" ? body : decoder.decode(body);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    // V8's own message quotes the body, which may name a person.
    throw new SyntaxError(
      `Cannot parse webhook: its ${text.length} characters are not JSON`,
    );
  }
  return readWebhook(withExactNumbers(value, text));
}

/**
 * Reads the body of a webhook that `JSON.parse` has already been through.
 *
 * Rules and result are those of {@linkcode parseWebhook}, but for one thing:
 * an amount that came as a JSON number has lost its exact text, and is left
 * out.
 *
 * @param value Any value.
 * @returns The event, or the reasons why it is not one of the documented ones.
 *
 * @example A value that is not an object
 * ```ts
 * import { readWebhook } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const webhook = readWebhook([]);
 * assert(webhook.type === "unrecognised");
 * assert.deepEqual(webhook.reasons, ["The body is an array, not an object"]);
 * ```
 */
export function readWebhook(
  value: unknown,
): WebhookEvent | UnrecognisedWebhook {
  const unrecognised = (statedType: string | null, ...reasons: string[]) =>
    ({ type: "unrecognised", statedType, reasons }) as const;
  if (!isRecord(value)) {
    return unrecognised(null, `The body is ${nounOf(value)}, not an object`);
  }
  const { type: stated } = value;
  if (typeof stated !== "string") {
    return unrecognised(
      null,
      stated === undefined
        ? "The body states no type"
        : `The type is ${nounOf(stated)}, not a string`,
    );
  }
  const type = webhookType(stated);
  if (type === null) {
    const shown = stated.length > 64 ? `${stated.slice(0, 64)}…` : stated;
    return unrecognised(stated, `Unknown type: ${shown}`);
  }
  const wrong = wrongIn(type, value);
  return wrong.length > 0
    ? unrecognised(stated, ...wrong)
    : eventOf(type, value);
}

/** A JSON object. */
type Json = Readonly<Record<string, unknown>>;

/** Why an event lacks what it cannot do without. */
function wrongIn(type: WebhookType, { order, ...value }: Json): string[] {
  if (type === "otp_status") {
    return (["user_id", "status"] as const).filter((name) =>
      !value[name] || typeof value[name] !== "string" ||
      (name === "user_id" && isLongText(value[name]))
    ).map((name) => `The ${name} of otp_status is ${nounOf(value[name])}`);
  }
  if (!isOneOf(ORDER_EVENT_TYPES, type)) return [];
  if (!isRecord(order)) {
    return [`The order of ${type} is ${nounOf(order)}, not an object`];
  }
  const { id } = order;
  if (typeof id !== "string") {
    return [`The order.id of ${type} is ${nounOf(id)}, not a string`];
  }
  return id === "" || isLongText(id)
    ? [`The order.id of ${type} is ${nounOf(id)}`]
    : [];
}

function eventOf(type: WebhookType, value: Json): WebhookEvent {
  const click_id = identifierOrNone(value.click_id);
  if (type === "otp_status") {
    const { user_id, status } = value;
    return {
      ...{ type, click_id, flavour: null },
      ...{ user_id, status, ...fieldsOf(value, OTP) },
    } as WebhookEvent;
  }
  const order = isRecord(value.order) ? readOrder(value.order) : undefined;
  if (type === "test") {
    return { type, click_id, flavour: null, ...(order && { order }) };
  }
  const session = identifierOrNone(value.hpp_session_id);
  const user = readUser(value.user);
  const isOfOrder = isOneOf(ORDER_EVENT_TYPES, type);
  return {
    ...{ type, click_id },
    // The earlier form of user events had neither sign; an order has one.
    flavour: isOfOrder && (session !== "") === ("partner_data" in (order ?? {}))
      ? null
      : session !== ""
      ? "fiatOnramp"
      : isOfOrder || user
      ? "nftCheckout"
      : null,
    ...(isOfOrder && { order }),
    ...(type === "verify_failed" && fieldsOf(value, { reject_type: filled })),
    ...(session !== "" && { hpp_session_id: session }),
    ...(user && { user }),
  } as WebhookEvent;
}

/** Reads a field; undefined leaves it out. */
type Read = (value: unknown) => unknown;
type Reads = Readonly<Record<string, Read>>;

const text: Read = (value) => typeof value === "string" ? value : undefined;
const filled: Read = (value) => text(value) || undefined;
const identifierOrNone = (value: unknown): string =>
  typeof value === "string" && !isLongText(value) ? value : "";
const textOrNone: Read = (value) => text(value) ?? "";
const object = (fields: Reads): Read => (value) =>
  isRecord(value) ? fieldsOf(value, fields) : undefined;
const state: Read = (value) =>
  isRecord(value) && typeof value.state === "string"
    ? { state: value.state }
    : undefined;

const OTP = { phone_country_code: text, status_detail: text };
const ORDER = {
  base: text,
  base_amount: text,
  quote: text,
  quote_amount: text,
  address: text,
  transaction_id: (value) => value === null ? null : text(value),
  external_order_id: (value) => isLongText(value) ? undefined : text(value),
  partner_data: object({ sc_address: textOrNone, sc_input_data: textOrNone }),
  // A code of the service's error table may come as a number.
  error_code: (value) => typeof value === "number" ? `${value}` : text(value),
} satisfies Readonly<Record<Exclude<keyof WebhookOrder, "id">, Read>>;
const USER = { verification_status: object({ fkyc: state, lkyc: state }) };

/** The fields of webhooks that the description of the service lists. */
export const WEBHOOK_FIELDS: Readonly<
  Record<"event" | "otp" | "order" | "user", readonly string[]>
> = {
  event: "type click_id hpp_session_id order user reject_type".split(" "),
  otp: ["type", "click_id", "user_id", "status", ...Object.keys(OTP)],
  order: ["id", ...Object.keys(ORDER)],
  user: ["user_id", ...Object.keys(USER)],
};

function fieldsOf(value: Json, fields: Reads): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const name in fields) {
    const held = fields[name]?.(value[name]);
    if (held !== undefined) read[name] = held;
  }
  return read;
}

function readOrder(value: Json): WebhookOrder {
  return { id: identifierOrNone(value.id), ...fieldsOf(value, ORDER) };
}

/** Reads the user object; undefined when it has no id. */
function readUser(value: unknown): WebhookUser | undefined {
  if (!isRecord(value)) return undefined;
  const user_id = identifierOrNone(value.user_id);
  return user_id === "" ? undefined : { user_id, ...fieldsOf(value, USER) };
}

/** What a value is, for a sentence. */
function nounOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (value === "") return "empty";
  if (isLongText(value)) return `longer than ${LONGEST_IDENTIFIER} bytes`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Fields of an order that may come as numbers. */
const numeric = ["base_amount", "quote_amount", "error_code"] as const;

/** Puts exact decimals where the order has numbers, which lost their digits. */
function withExactNumbers(value: unknown, text: string): unknown {
  if (!isRecord(value) || !isRecord(value.order)) return value;
  const { order } = value;
  const rounded = numeric.filter((name) => typeof order[name] === "number");
  if (rounded.length === 0) return value;
  const exact = parseExact(text) as { readonly order: Json };
  const stated = rounded.map((name) => [name, exact.order[name]]);
  return { ...value, order: { ...order, ...Object.fromEntries(stated) } };
}
