import {
  type Driver,
  type Entity,
  isPolled,
  selectFreshness,
} from "../../ledger/for_sync.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import { readDeepCycles } from "./poll_status.ts";
import { pollAlarm, readPollHealth } from "./poll_health.ts";

/**
 * Why the service is asked again for an order or user, the soonest first.
 *
 * - `named`: a webhook named it, and it waits for a confirming read.
 * - `open`: an order that may still change.
 * - `recently_final`: an order that became final in the last three days.
 * - `deep`: it is read again with the whole past.
 */
export type FreshnessTier = "named" | "open" | "recently_final" | "deep";

/**
 * Why what the service said last may be old.
 *
 * - `never_observed`: the service has not shown it, so webhooks are all there is.
 * - `not_polled`: no poller runs.
 * - `polling_fails`: a poller runs, and its requests fail.
 * - `behind`: it should have been asked for again by now, as after an outage.
 */
export type FreshnessDoubt =
  | "never_observed"
  | "not_polled"
  | "polling_fails"
  | "behind";

/** How fresh the ledger's information about an order or user is. */
export interface Freshness {
  /** When the service was last asked for it, UTC ISO 8601; null is never. */
  readonly requestedAt: string | null;
  /** Why it is asked for again. */
  readonly tier: FreshnessTier;
  /** When it is due to be asked for again; null where the cycle decides. */
  readonly nextAt: string | null;
  /** Why its last answer may be old; null while it is asked for in time. */
  readonly doubt: FreshnessDoubt | null;
}

/** What is known of when one order or user is asked for. */
export interface RequestTimes {
  /** When it was last asked for, UTC ISO 8601; null is never. */
  readonly requestedAt: string | null;
  /** Whether the service showed it then. */
  readonly wasObserved: boolean;
  /** When it is due among the orders that are asked for again, in epoch ms. */
  readonly openDueAtMs: number | null;
  /** Since when it is final, where that is why it is among them, in epoch ms. */
  readonly finalAtMs: number | null;
  /** When it is due because a webhook named it, in epoch ms. */
  readonly namedDueAtMs: number | null;
}

/** How the poller does. */
export interface Polling {
  /** Why it does nothing; null while it works. */
  readonly doubt: "not_polled" | "polling_fails" | null;
  /** When the last whole cycle through the past began, in epoch ms, if one ended. */
  readonly allAskedSinceMs: number | null;
}

/** Later than this is late: a sweep looks for what is due within the minute. */
const LATE_MS = 5 * 60_000;

/** How fresh what is known of an order or user is. */
export function freshnessOf(
  times: RequestTimes,
  polling: Polling,
  nowMs: number,
): Freshness {
  const { requestedAt, openDueAtMs, finalAtMs, namedDueAtMs } = times;
  const tier: FreshnessTier = namedDueAtMs !== null
    ? "named"
    : openDueAtMs === null
    ? "deep"
    : finalAtMs === null
    ? "open"
    : "recently_final";
  const nextMs = Math.min(namedDueAtMs ?? Infinity, openDueAtMs ?? Infinity);
  const nextAt = nextMs === Infinity ? null : new Date(nextMs).toISOString();
  return { requestedAt, tier, nextAt, doubt: doubtOf() };

  function doubtOf(): FreshnessDoubt | null {
    if (requestedAt === null || !times.wasObserved) return "never_observed";
    if (polling.doubt !== null) return polling.doubt;
    const askedMs = Date.parse(requestedAt);
    // A time in the future was written before our clock was set back.
    const isAhead = askedMs > nowMs + CLOCK_TOLERANCE_MS;
    const isLate = nextMs === Infinity
      ? askedMs < (polling.allAskedSinceMs ?? 0)
      : nowMs > nextMs + LATE_MS;
    return isAhead || isLate ? "behind" : null;
  }
}

/**
 * Reads how fresh the ledger's information about an order or user is.
 *
 * @param driver The ledger's database.
 * @param entity Which kind.
 * @param id Which one.
 * @param nowMs The time, in milliseconds since the epoch. @default {Date.now()}
 * @throws {LedgerError} When the database fails.
 *
 * @example An order that nobody knows
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import { readFreshness } from "@rampkit/onramp/sync";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { doubt } = await readFreshness(ledger.driver, "order", "01ORDER");
 * assert.equal(doubt, "never_observed");
 * ```
 */
export async function readFreshness(
  driver: Driver,
  entity: Entity,
  id: string,
  nowMs: number = Date.now(),
): Promise<Freshness> {
  const [rows] = await driver.batch([selectFreshness(entity, id)], "read");
  const [requestedAt, found, openDueAt, finalAt, namedDueAt] = rows?.rows[0] ??
    [];
  const ms = (value: unknown) => typeof value === "number" ? value : null;
  return freshnessOf(
    {
      requestedAt: typeof requestedAt === "string" ? requestedAt : null,
      wasObserved: found === 1,
      openDueAtMs: ms(openDueAt),
      finalAtMs: ms(finalAt),
      namedDueAtMs: ms(namedDueAt),
    },
    await readPolling(driver),
    nowMs,
  );
}

async function readPolling(driver: Driver): Promise<Polling> {
  const { allAskedSince } = await readDeepCycles(driver);
  const allAskedSinceMs = allAskedSince === null
    ? null
    : Date.parse(allAskedSince);
  const doubt = !await isPolled(driver)
    ? "not_polled"
    : pollAlarm(await readPollHealth(driver)) === null
    ? null
    : "polling_fails";
  return { doubt, allAskedSinceMs };
}
