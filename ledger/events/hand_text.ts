import { printable } from "../../core/printable.ts";

/** The most characters of who did something, and of what it refers to. */
export const LONGEST_NAME = 256;

/** Whether a person has written something that can be stored as it is. */
export function isHandText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.trim() !== "" &&
    value.length <= most && value.isWellFormed() && !value.includes("\0");
}

/** Says which field of what a person records is wrong, and what to do. */
export function wrongHandField(
  field: string,
  value: unknown,
  advice: string,
): string {
  const text = typeof value === "string"
    ? value.length <= 100
      ? `"${printable(value)}"`
      : `a text of ${value.length} characters`
    : String(value);
  return `Wrong ${field}: ${text}; ${advice}`;
}
