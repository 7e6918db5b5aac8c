import { compareDecimals, isDecimal } from "../../core/decimal.ts";
import type { FieldChange, FieldValue } from "./explanation.ts";

type Fields = Readonly<Record<string, FieldValue>>;

/** Fields that are amounts of money or assets, or shares of them. */
const AMOUNT = /(Amount|Fee|Percent)$/;

/** The fields in which two visible states differ, with both values. */
export function fieldChanges(before: Fields, after: Fields): FieldChange[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].filter((field) =>
    !isSame(field, before[field], after[field])
  ).map((field) => ({
    field,
    before: before[field] ?? null,
    after: after[field] ?? null,
  }));
}

/** An amount that is written with another number of zeros is the same one. */
function isSame(
  field: string,
  a: FieldValue | undefined,
  b: FieldValue | undefined,
): boolean {
  if (a === b) return true;
  if (typeof a === "object" && typeof b === "object") {
    return JSON.stringify(a) === JSON.stringify(b);
  }
  return AMOUNT.test(field) && typeof a === "string" && typeof b === "string" &&
    isDecimal(a) && isDecimal(b) && compareDecimals(a, b) === 0;
}
