import { UsageError } from "../../../settings/errors.ts";
import { isMonth } from "../../../resources/queries/months.ts";

/** What the argument is, for help. */
export const MONTH = "the month, for example 2026-11";

/**
 * Reads a month.
 *
 * @throws {UsageError} When it is none.
 */
export function monthArgument(text: string): string {
  if (isMonth(text)) return text;
  throw new UsageError(
    `Wrong <month>: "${text}" is not a month; write 2026-11`,
  );
}
