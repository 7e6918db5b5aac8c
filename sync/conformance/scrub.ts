import { isRecord } from "../../core/guards.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";

/** A row of a list as the service sent it; numbers are `ExactNumber`s. */
export type WireRow = Readonly<Record<string, unknown>>;

/** What kind of JSON value something is. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return "number";
  return typeof value === "string" ? "text" : typeof value;
}

/** Sorted, each once, and no more than a transcript should hold. */
export function distinct(texts: Iterable<string>): string[] {
  return [...new Set(texts)].sort().slice(0, MOST_WORDS);
}

const MOST_WORDS = 40;
const LONGEST_WORD = 40;

/**
 * A word of a documented list as it is; any other text only where it is short
 * and holds nothing that could name a person, an order or an amount.
 */
export function word(value: unknown, documented: readonly string[]): string {
  if (typeof value !== "string") return `(${kindOf(value)})`;
  if (documented.includes(value)) return value;
  return /^(?:\d{4}|[A-Za-z0-9][A-Za-z _-]*\d?)$/.test(value) &&
      value.length <= LONGEST_WORD
    ? value
    : `(text of ${value.length})`;
}

/** The name of a field; none that could be an identifier used as a key. */
export function fieldName(name: string): string {
  return /^[A-Za-z_][A-Za-z_]*\d{0,2}$/.test(name) &&
      name.length <= LONGEST_WORD
    ? name
    : `(name of ${name.length})`;
}

/** The form of a time: digits become 9. Anything else is only measured. */
export function timeForm(value: unknown): string {
  if (typeof value !== "string") return `(${kindOf(value)})`;
  const form = value.replace(/\d/g, "9");
  return /^[9T:Z .+-]{1,40}$|^[9: .+-]{1,32}UTC$/.test(form)
    ? form
    : `(text of ${value.length})`;
}

const LONGEST_MESSAGE = 160;

/** The message of an error, without what it may repeat of the question. */
export function message(body: unknown): string | null {
  const text = isRecord(body) ? body.message : undefined;
  if (typeof text !== "string") return null;
  return text.slice(0, LONGEST_MESSAGE)
    .replace(/[^\x20-\x7e]/g, "?")
    .replace(/\b(?=\w*\d)\w{5,}\b|\S{25,}|\S*@\S*/g, "*");
}

/** How orders write times, in the form of {@linkcode timeForm}. */
export const ORDER_TIME_FORM = /^9999-99-99 99:99:99$/;
