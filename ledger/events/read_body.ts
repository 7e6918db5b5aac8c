import { parseExact } from "../../core/json/exact_json.ts";
import type { RowRead } from "../../core/wire/read_row.ts";
import { cleaned, objectOf } from "./fact_text.ts";

const decoder = new TextDecoder();

/**
 * What can be read of the row in a body, and what cannot. The same rule that
 * the client uses, so that both report the same fields as odd.
 */
export function soundRow(
  body: Uint8Array,
  read: (
    row: Readonly<Record<string, unknown>>,
    mayHoldNul: boolean,
  ) => RowRead<object>,
): RowRead<Readonly<Record<string, unknown>>> | null {
  const text = decoder.decode(body);
  const value = objectOf(parseExact(text));
  if (value === null) return null;
  const { row, odd } = read(value, text.includes("\\u0000"));
  return { row: cleaned({ ...row }, text), odd };
}

/** The JSON object in a body, its numbers as exact decimal strings. */
export function exactObject(
  body: Uint8Array,
): Readonly<Record<string, unknown>> | null {
  const text = decoder.decode(body);
  return objectOf(cleaned(parseExact(text), text));
}
