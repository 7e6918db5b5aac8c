import { printable } from "./printable.ts";
import { wrap } from "./wrap.ts";

/**
 * Rows of a label and a value; those without a value are left out.
 *
 * @param least Room for the labels, in characters; more where one is longer.
 */
export function labelled(
  rows: readonly (readonly [string, string | null])[],
  columns: number | null,
  least = 15,
): string[] {
  const shown = rows.filter(([, value]) => value);
  const width = Math.max(least, ...shown.map(([label]) => label.length + 1));
  const room = columns === null ? null : Math.max(columns - width, 20);
  return shown.map(([label, value]) =>
    label.padEnd(width) +
    wrap(printable(value ?? ""), room, 0).replaceAll(
      "\n",
      `\n${" ".repeat(width)}`,
    )
  );
}
