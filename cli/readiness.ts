import type { Ledger } from "../ledger/ledger.ts";
import type { Readiness } from "./http_app.ts";
import { messageOf } from "./logger.ts";

/**
 * Looks whether a ledger takes writes and how far it is folded.
 *
 * @param open Gives the ledger, or throws why there is none.
 * @param spooled Deliveries that wait in the spool.
 * @param refusal Why the ledger refused the latest delivery, if it did.
 */
export async function readinessOf(
  open: () => Ledger | Promise<Ledger>,
  spooled: number,
  refusal: string | null = null,
): Promise<Readiness> {
  try {
    const ledger = await open();
    const lag = await ledger.lag();
    await ledger.probe();
    return { writable: refusal === null, lag, spooled, problem: refusal };
  } catch (error) {
    return { writable: false, lag: null, spooled, problem: messageOf(error) };
  }
}
