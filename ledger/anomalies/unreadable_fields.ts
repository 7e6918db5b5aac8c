import type { OddField } from "../../core/wire/odd_field.ts";
import type { UnreadableField } from "./anomaly.ts";

/**
 * The anomalies of fields that could not be read.
 *
 * @param readings The readings that count.
 * @returns One for each field and kind of value, sorted by them.
 */
export function unreadableFields(
  readings: readonly { readonly odd: readonly OddField[] }[],
): readonly UnreadableField[] {
  const found = new Map<string, UnreadableField>();
  for (const { odd } of readings) {
    for (const { field, value } of odd) {
      found.set(`${field} ${value}`, {
        kind: "unreadable_field",
        field,
        value,
      });
    }
  }
  return [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, one]) => one);
}
