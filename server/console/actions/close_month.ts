import type { Ledger } from "../../../ledger/mod.ts";
import type { Reader } from "../access/access.ts";
import type { Log } from "../../monitoring/logger.ts";
import { isMonth } from "../../../resources/queries/months.ts";
import {
  describeMonthRefusal,
  monthRefusalAdvice,
} from "../../../resources/wording/month.ts";
import type { ActionResult } from "./settle_dead_letters.ts";

/**
 * Closes a month by the terms of the month before, as the form on its page
 * asks. The first month is closed by the command: its terms stay for good.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param by Who sent it, and the log that names them.
 */
export async function closeMonth(
  ledger: Ledger,
  { month = "", sure }: Readonly<Record<string, string>>,
  { reader, log }: { readonly reader: Reader; readonly log: Log },
): Promise<ActionResult> {
  if (!isMonth(month)) return { wrong: "There is no such month" };
  if (sure !== "yes") {
    return { wrong: "A month is closed for good: tick that you are sure" };
  }
  await ledger.project();
  const { closed, refused } = await ledger.months.close(month);
  if (refused !== null) {
    const why = describeMonthRefusal(month, refused);
    // The first is closed by the command alone.
    return refused.code === "terms_missing"
      ? { wrong: why + monthRefusalAdvice(month, refused) }
      : { wrong: why };
  }
  const { timeZone, bookBy, position } = closed;
  const { name: author } = reader;
  log("info", "console_closed_month", {
    author,
    month,
    timeZone,
    bookBy,
    position,
  });
  return { back: `/months/${month}` };
}
