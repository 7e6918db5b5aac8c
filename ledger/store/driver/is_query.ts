import type { Statement } from "./driver.ts";

/**
 * Whether a statement surely cannot write: a `SELECT`, or one after common table
 * expressions. It goes by words, and in doubt says no: a `WITH` that names a
 * change anywhere, were it in a text, is none.
 */
export function isQuery({ sql }: Statement): boolean {
  return /^\s*SELECT\b/i.test(sql) ||
    /^\s*WITH\b(?!.*\b(?:INSERT|UPDATE|DELETE|REPLACE)\b)/is.test(sql);
}
