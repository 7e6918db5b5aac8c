import type { Driver } from "./store/driver/driver.ts";
import { LedgerError } from "./store/driver/errors.ts";
import { selectGoLive, stampGoLive } from "./store/tables/go_live.ts";

/**
 * Stamps the time from which transitions are sent, unless the ledger has one.
 * What had happened before is historic: it is logged and booked, but not sent.
 *
 * @param driver The database.
 * @param time The time, UTC ISO 8601; it must be that of a ledger that has one.
 * @param now The time that a ledger without one gets where `time` is undefined,
 * in milliseconds since the epoch.
 * @returns The time of the ledger, UTC ISO 8601.
 * @throws {TypeError} When `time` is not a time.
 * @throws {LedgerError} `failed` when the ledger has gone live at another time.
 */
export async function goLive(
  driver: Driver,
  time: string | undefined,
  now: number,
): Promise<string> {
  const wanted = time === undefined ? null : readTime(time);
  const [, found] = await driver.batch([
    stampGoLive(wanted ?? new Date(now).toISOString()),
    selectGoLive,
  ], "write");
  const stamped = found?.rows[0]?.[0] as string;
  if (wanted === null || wanted === stamped) return stamped;
  throw new LedgerError(
    "failed",
    `The ledger has gone live at ${stamped}, and not at ${wanted}: leave the ` +
      "time out, or begin a new ledger",
  );
}

function readTime(time: string): string {
  const ms = Date.parse(time);
  const isTime = /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})$/.test(time);
  if (isTime && !Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new TypeError(
    `Wrong goLive: ${JSON.stringify(time)} is not a time such as ` +
      "2026-11-20T17:00:00Z",
  );
}
