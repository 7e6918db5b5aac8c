/** From when on what happens is sent to handlers and targets. */
import type { Driver } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { statement, write } from "../store/database.ts";
import { stampLive, timeOf } from "../store/events.ts";

/**
 * Stamps the time from which transitions are sent, unless the ledger has one. What had
 * happened before is historic: it is logged and booked, but not sent.
 *
 * @throws {TypeError} When `time` is not a time.
 * @throws {LedgerError} `failed` when the ledger has gone live at another time.
 */
export async function goLive(
  driver: Driver,
  time: string | undefined,
  now: number,
): Promise<string> {
  const wanted = time === undefined ? null : readTime(time);
  const [, found] = await write(driver, [
    stampLive(wanted ?? now),
    statement("SELECT live_from FROM ledger"),
  ]);
  const stamped = timeOf(found?.[0]?.[0]) ?? "";
  if (wanted === null || wanted === Date.parse(stamped)) return stamped;
  throw new LedgerError(
    "failed",
    `The ledger has gone live at ${stamped}, and not at ` +
      `${new Date(wanted).toISOString()}: leave the time out, or begin a ` +
      "new ledger",
  );
}

function readTime(time: string): number {
  const ms = Date.parse(time);
  const isTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(time);
  if (isTime && !Number.isNaN(ms)) return ms;
  throw new TypeError(
    `Wrong goLive: ${JSON.stringify(time)} is not a time such as ` +
      "2026-11-20T17:00:00Z",
  );
}
