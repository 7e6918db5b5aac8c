import type { Entity } from "../entity.ts";
import type { Driver } from "../store/driver/driver.ts";
import { selectFreshness } from "../store/tables/freshness.ts";
import { isPolled } from "../polling/lease/lease.ts";
import { readPollHealth } from "../polling/poll_failures.ts";
import { pollAlarm } from "../polling/poll_health.ts";
import { readPollStatus } from "../polling/poll_status.ts";
import type { StalenessBound } from "../polling/staleness.ts";

/**
 * Why the service is asked again for an order or user, the soonest first.
 *
 * - `named`: a webhook named it, and it waits for a confirming read.
 * - `open`: an order that may still change.
 * - `lately_final`: an order that became final in the last three days.
 * - `deep`: it is read again with the whole past.
 */
export type FreshnessTier = "named" | "open" | "lately_final" | "deep";

/**
 * Why nothing can be promised of how fresh an answer is.
 *
 * - `never_shown`: the service has not shown it, so webhooks are all there is.
 * - `not_polled`: no poller is at work.
 * - `polling_fails`: a poller is at work, and its requests fail.
 */
export type FreshnessUnbound = "never_shown" | "not_polled" | "polling_fails";

/** How fresh what the ledger says of an order or user is. */
export interface Freshness {
  /** When the service was last asked for it, UTC ISO 8601; null is never. */
  readonly askedAt: string | null;
  /** Why it is asked for again. */
  readonly tier: FreshnessTier;
  /** When it is due to be asked for again; null where the cycle decides. */
  readonly nextAt: string | null;
  /**
   * No answer of the service is older than this while polling goes on, in
   * milliseconds, at the default rate; null where nothing can be promised.
   */
  readonly notOlderThanMs: number | null;
  /** Why nothing can be promised; null where something is. */
  readonly unbound: FreshnessUnbound | null;
}

/** What is known of when one order or user is asked for. */
export interface AskedTimes {
  /** When it was last asked for, UTC ISO 8601; null is never. */
  readonly askedAt: string | null;
  /** Whether the service showed it then. */
  readonly wasShown: boolean;
  /** When it is due among the orders that are asked for again and again. */
  readonly openDueAt: string | null;
  /** Since when it is final, where that is why it is among them. */
  readonly finalAt: string | null;
  /** When it is due because a webhook named it. */
  readonly namedDueAt: string | null;
}

/**
 * How fresh what is known of an order or user is.
 *
 * @param times When it was asked for, and is again.
 * @param bound What the poller promises for all orders and users.
 * @param polling Why it promises nothing; null while it works.
 */
export function freshnessOf(
  times: AskedTimes,
  bound: StalenessBound,
  polling: "not_polled" | "polling_fails" | null,
): Freshness {
  const { askedAt, openDueAt, finalAt, namedDueAt } = times;
  const tier: FreshnessTier = namedDueAt !== null
    ? "named"
    : openDueAt === null
    ? "deep"
    : finalAt === null
    ? "open"
    : "lately_final";
  const nextAt = [namedDueAt, openDueAt].reduce<string | null>(
    (first, at) => at !== null && (first === null || at < first) ? at : first,
    null,
  );
  const unbound = askedAt === null || !times.wasShown ? "never_shown" : polling;
  return {
    askedAt,
    tier,
    nextAt,
    notOlderThanMs: unbound === null ? promisedMs(times, bound) : null,
    unbound,
  };
}

/** From one answer to the next, at the longest. */
function promisedMs(
  { askedAt, openDueAt }: AskedTimes,
  { anythingMs, latelyFinalMs }: StalenessBound,
): number {
  if (askedAt === null || openDueAt === null) return anythingMs;
  const pauseMs = Math.max(0, Date.parse(openDueAt) - Date.parse(askedAt));
  // The cycle through the past reads it too, whatever its pause has grown to.
  return Math.min(anythingMs, pauseMs + latelyFinalMs);
}

/**
 * Reads how fresh what the ledger says of an order or user is.
 *
 * @param driver The ledger's database.
 * @param entity Which kind.
 * @param id Which one.
 * @throws {LedgerError} When the database fails.
 *
 * @example An order that nobody knows
 * ```ts
 * import { openLedger, readFreshness } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const { unbound } = await readFreshness(ledger.driver, "order", "01ORDER");
 * assert.equal(unbound, "never_shown");
 * ```
 */
export async function readFreshness(
  driver: Driver,
  entity: Entity,
  id: string,
): Promise<Freshness> {
  const [rows] = await driver.batch([selectFreshness(entity, id)], "read");
  const [askedAt, found, openDueAt, finalAt, namedDueAt] = rows?.rows[0] ?? [];
  const text = (value: unknown) => typeof value === "string" ? value : null;
  const { staleness } = await readPollStatus(driver);
  const polling = !await isPolled(driver)
    ? "not_polled"
    : pollAlarm(await readPollHealth(driver)) === null
    ? null
    : "polling_fails";
  return freshnessOf(
    {
      askedAt: text(askedAt),
      wasShown: found === 1,
      openDueAt: text(openDueAt),
      finalAt: text(finalAt),
      namedDueAt: text(namedDueAt),
    },
    staleness,
    polling,
  );
}
