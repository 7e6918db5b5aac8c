import { printable } from "./printable.ts";
import { wrap } from "./wrap.ts";

/**
 * Rows of a label and a value; those without a value are left out.
 *
 * @param width Room for the labels, in characters.
 */
export function labelled(
  rows: readonly (readonly [string, string | null])[],
  columns: number | null,
  width = 15,
): string[] {
  const room = columns === null ? null : Math.max(columns - width, 20);
  return rows.filter(([, value]) => value).map(([label, value]) =>
    label.padEnd(width) +
    wrap(printable(value ?? ""), room, 0).replaceAll(
      "\n",
      `\n${" ".repeat(width)}`,
    )
  );
}
