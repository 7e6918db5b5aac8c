import { parseJson } from "../../core/json/parse_json.ts";
import { readWebhook } from "../../core/webhook_event/parse_webhook.ts";

/** The class of a body, one of a fixed set. */
export interface BodyClass {
  /** The documented type, `other`, or `quarantined` when it is not a JSON object. */
  readonly type: string;
  /** Why it is not a documented event; null when it is one. */
  readonly why: string | null;
}

const decoder = new TextDecoder();

/** Classifies a body. Never throws: a delivery is stored whatever it is. */
export function classify(body: Uint8Array): BodyClass {
  if (body.length === 0) return { type: "quarantined", why: "It is empty" };
  let value: unknown;
  try {
    value = parseJson(decoder.decode(body));
  } catch {
    // V8's own message quotes the body, which may name a person.
    return { type: "quarantined", why: "It is not JSON" };
  }
  const webhook = readWebhook(value);
  if (webhook.type !== "unrecognised") return { type: webhook.type, why: null };
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value);
  return {
    type: isObject ? "other" : "quarantined",
    why: webhook.reasons.join("; "),
  };
}
