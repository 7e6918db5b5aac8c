import { parseJson } from "../json/parse_json.ts";
import { LONGEST_IDENTIFIER } from "../wire/identifier.ts";
import { longIdentifiers } from "./long_identifiers.ts";
import { readWebhook } from "./parse_webhook.ts";

/** The class of a body, one of a fixed set. */
export interface BodyClass {
  /** The documented type, `other`, or `quarantined` when it is not a JSON object. */
  readonly type: string;
  /**
   * Why it is not a documented event, or which of its identifiers are too long;
   * null when nothing is odd.
   */
  readonly why: string | null;
}

const decoder = new TextDecoder();

/** The value that a body is the JSON text of; undefined when it is not JSON. */
export function bodyValue(body: Uint8Array): unknown {
  try {
    return parseJson(decoder.decode(body));
  } catch {
    return undefined;
  }
}

/** Classifies the value of a body. Never throws: any delivery is stored. */
export function classify(value: unknown): BodyClass {
  if (value === undefined) {
    return { type: "quarantined", why: "It is not JSON" };
  }
  const webhook = readWebhook(value);
  const long = longIdentifiers(value);
  if (webhook.type !== "unrecognised") {
    return {
      type: webhook.type,
      why: long.length === 0 ? null : tooLong(long),
    };
  }
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value);
  return {
    type: isObject ? "other" : "quarantined",
    why: webhook.reasons.join("; "),
  };
}

function tooLong(fields: readonly string[]): string {
  return `Longer than ${LONGEST_IDENTIFIER} characters, and read as absent: ` +
    fields.join(", ");
}
