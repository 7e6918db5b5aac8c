import { type Driver, readSweep, writeSweep } from "../../ledger/for_sync.ts";

/** Name under which refused requests are kept. */
const REFUSED = "refused_requests";

/** Requests longer ago than this are forgotten when others come, in ms. */
const FORGOTTEN_MS = 24 * 3_600_000;

/** Requests that an endpoint refused for one reason. */
export interface RefusedRequests {
  /** How many. */
  readonly count: number;
  /** When the first of them was noticed, UTC ISO 8601. */
  readonly since: string;
  /** When the last of them was noticed, UTC ISO 8601. */
  readonly lastAt: string;
}

/** Reads what the endpoints of a ledger refused lately, by reason. */
export async function readRefusedRequests(
  driver: Driver,
): Promise<Readonly<Record<string, RefusedRequests>>> {
  return await readSweep<Record<string, RefusedRequests>>(driver, REFUSED) ??
    {};
}

/**
 * Adds requests that were refused, for `doctor` to see from another process.
 */
export async function addRefusedRequests(
  driver: Driver,
  counts: Readonly<Record<string, number>>,
  nowMs: number,
): Promise<void> {
  const known: Record<string, RefusedRequests> = {
    ...await readRefusedRequests(driver),
  };
  const lastAt = new Date(nowMs).toISOString();
  for (const [reason, count] of Object.entries(counts)) {
    const before = known[reason];
    const recent = before !== undefined &&
      Math.abs(nowMs - Date.parse(before.lastAt)) < FORGOTTEN_MS;
    known[reason] = recent
      ? { count: before.count + count, since: before.since, lastAt }
      : { count, since: lastAt, lastAt };
  }
  await driver.batch([writeSweep(REFUSED, known, nowMs)], "write");
}
