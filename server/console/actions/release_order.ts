import { type Ledger, ReleaseError } from "../../../ledger/mod.ts";
import { defined } from "../../../core/guards.ts";
import type { Reader } from "../access/access.ts";
import type { Log } from "../../monitoring/logger.ts";
import { orderPath } from "../parts/order_table.ts";
import type { ActionResult } from "./settle_dead_letters.ts";

/**
 * Records that whoever sent the form of an order's page delivered or refunded
 * the order.
 *
 * @param fields The fields of the form, whatever they hold.
 * @param by Who sent it, and the log that names them.
 */
export async function releaseOrder(
  ledger: Ledger,
  { id = "", outcome, why = "", reference = "" }: Readonly<
    Record<string, string>
  >,
  { reader: { name: by }, log }: {
    readonly reader: Reader;
    readonly log: Log;
  },
): Promise<ActionResult> {
  if (outcome !== "delivered" && outcome !== "refunded") {
    return { wrong: "The form is not whole; load the page again and repeat" };
  }
  const named = reference.trim();
  try {
    await ledger.release(id, {
      outcome,
      by,
      why: why.trim(),
      ...defined({ for: named === "" ? undefined : named }),
    });
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    return { wrong: error.message };
  }
  log("info", "console_released", { author: by, orderId: id, outcome });
  return { back: orderPath(id) };
}
