import { isOneOf, isRecord } from "../guards.ts";
import { parseExact } from "../json/exact_json.ts";
import { parseJson } from "../json/parse_json.ts";
import { webhookType } from "./event_types.ts";
import {
  excerpt,
  type Json,
  nounOf,
  orderEvent,
  otpStatusEvent,
  testEvent,
  unrecognised,
  userEvent,
  verifyFailedEvent,
} from "./_read_events.ts";
import {
  ORDER_EVENT_TYPES,
  type UnrecognisedWebhook,
  USER_EVENT_TYPES,
  type WebhookEvent,
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
  if (!isRecord(value)) {
    return unrecognised(null, `The body is ${nounOf(value)}, not an object`);
  }
  const stated = value.type;
  if (typeof stated !== "string") {
    return unrecognised(
      null,
      stated === undefined
        ? "The body states no type"
        : `The type is ${nounOf(stated)}, not a string`,
    );
  }
  const type = webhookType(stated);
  if (isOneOf(ORDER_EVENT_TYPES, type)) return orderEvent(type, stated, value);
  if (isOneOf(USER_EVENT_TYPES, type)) return userEvent(type, value);
  switch (type) {
    case "verify_failed":
      return verifyFailedEvent(value);
    case "otp_status":
      return otpStatusEvent(value);
    case "test":
      return testEvent(value);
    case null:
      return unrecognised(stated, `Unknown type: ${excerpt(stated)}`);
    default:
      return type satisfies never;
  }
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
