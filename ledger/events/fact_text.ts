import { isRecord } from "../../core/guards.ts";
import { isLongText, LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";
import { utf8Prefix } from "../../core/bytes.ts";
import { parseExact } from "../../core/json/exact_json.ts";
import type { RowRead } from "../../core/wire/read_row.ts";

/**
 * The most bytes of a text that a claim states, such as a transaction or an
 * address: the longest of any network have some 110.
 */
const LONGEST_CLAIMED = 128;

/**
 * The most bytes of a name or amount that a claim states, such as of a currency
 * or a verification: states, indexes and the log of transitions hold each again.
 */
const LONGEST_CLAIMED_NAME = 32;

/**
 * Makes all text in a decoded JSON value well formed and free of NUL, so that
 * any database and any encoder can hold it. Only an escape can bring in either,
 * so a text without `\\u` has nothing to clean, and is not walked.
 */
export function cleaned<T>(value: T, source: string): T {
  return source.includes("\\u") ? clean(value) as T : value;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  const object = objectOf(value);
  if (object === null) return value;
  return Object.fromEntries(
    Object.entries(object).map(([key, inner]) => [key, clean(inner)]),
  );
}

function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/**
 * Text fit for an indexed column: well formed and free of NUL, because SQLite
 * ends a text at NUL and a lone surrogate cannot be stored as UTF-8.
 */
function columnText(value: unknown): string | null {
  return typeof value === "string" ? emptyToNull(cleanText(value)) : null;
}

/** An identifier fit for an indexed column; null where it is too long for one. */
export function idText(value: unknown): string | null {
  return isLongText(value) ? null : columnText(value);
}

/** Text of a decoded field: null when absent or JSON null. */
export function textOf(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint"
    ? String(value)
    : null;
}

/** Like {@linkcode textOf}, with the empty string read as absent. */
export function filledText(value: unknown): string | null {
  const text = textOf(value);
  return text === "" ? null : text;
}

/**
 * Like {@linkcode filledText}, cut to a length: anybody may post a claim, and a
 * state and its indexes hold it again.
 */
export function claimText(
  value: unknown,
  longest: number = LONGEST_CLAIMED,
): string | null {
  const text = filledText(value);
  return text === null ? null : utf8Prefix(text, longest);
}

/** Like {@linkcode claimText}, of an identifier. */
export function claimId(value: unknown): string | null {
  return claimText(value, LONGEST_IDENTIFIER);
}

/** Like {@linkcode claimText}, of a name or an amount. */
export function claimName(value: unknown): string | null {
  return claimText(value, LONGEST_CLAIMED_NAME);
}

/** Like {@linkcode claimName}, in upper case, which can be longer. */
export function claimCode(value: unknown): string | null {
  return claimName(upper(filledText(value)));
}

/**
 * Text of a field of a reading: null when absent, the empty string when the
 * service states that there is none (empty or JSON null).
 */
export function statedText(value: unknown): string | null {
  if (value === undefined) return null;
  return value === null ? "" : textOf(value);
}

/** The empty string read as absent. */
export function emptyToNull(text: string | null): string | null {
  return text === "" ? null : text;
}

/** Upper case, absent stays absent. */
export function upper(text: string | null): string | null {
  return text === null ? null : text.toUpperCase();
}

/** A decoded JSON object, or null. */
export function objectOf(
  value: unknown,
): Readonly<Record<string, unknown>> | null {
  return isRecord(value) ? value : null;
}

/** A click id that links: not empty, and not that of the test event. */
export function linking(clickId: string | null): string | null {
  return clickId === "" || clickId === "test_click_id" ? null : clickId;
}

const decoder = new TextDecoder();

/**
 * What can be read of the row in a body, and what cannot. The same rule that
 * the client uses, so that both report the same fields as odd.
 */
export function soundRow(
  body: Uint8Array,
  read: (row: Readonly<Record<string, unknown>>) => RowRead<object>,
): RowRead<Readonly<Record<string, unknown>>> | null {
  const text = decoder.decode(body);
  const value = objectOf(parseExact(text));
  if (value === null) return null;
  const { row, odd } = read(value);
  return { row: cleaned({ ...row }, text), odd };
}

/** The JSON object in a body, its numbers as exact decimal strings. */
export function exactObject(
  body: Uint8Array,
): Readonly<Record<string, unknown>> | null {
  const text = decoder.decode(body);
  return objectOf(cleaned(parseExact(text), text));
}
