import { readWebhook } from "./parse_webhook.ts";

/** What a body is, in one of a bounded set of words. */
export interface BodyClass {
  /** The documented type, `other`, or `quarantined` for no JSON object. */
  readonly type: string;
  /** Why it is no documented event; null when it is one. */
  readonly why: string | null;
}

const decoder = new TextDecoder();

/** Says what a body is. Never throws: the delivery is kept whatever it is. */
export function classify(body: Uint8Array): BodyClass {
  if (body.length === 0) return { type: "quarantined", why: "It is empty" };
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(body));
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
