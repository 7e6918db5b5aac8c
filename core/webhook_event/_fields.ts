import { isLongText, LONGEST_IDENTIFIER } from "../wire/identifier.ts";
import type { UnrecognisedWebhook } from "./webhook_event.ts";

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** `T` while it is built: its fields can still be set. */
export type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/** A webhook that is none of the documented events, for one reason. */
export function unrecognised(
  statedType: string | null,
  reason: string,
): UnrecognisedWebhook {
  return { type: "unrecognised", statedType, reasons: [reason] };
}

/** The text of a field; empty when it has none. */
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A text that can identify something; empty when it is too long for that. */
export function identifierText(value: unknown): string {
  return isLongText(value) ? "" : text(value);
}

/** The beginning of a long text. */
export function excerpt(value: string): string {
  return value.length > 64 ? `${value.slice(0, 64)}…` : value;
}

/** What a value is, for a sentence. */
export function nounOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (value === "") return "empty";
  if (isLongText(value)) return `longer than ${LONGEST_IDENTIFIER} characters`;
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
