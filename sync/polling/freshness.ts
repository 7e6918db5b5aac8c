import {
  type Driver,
  type Entity,
  isPolled,
  selectFreshness,
} from "../../ledger/for_sync.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import { readPollBound, type StalenessBound } from "./poll_status.ts";
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
 * Why no bound can be given for how old an answer is.
 *
 * - `never_observed`: the service has not shown it, so webhooks are all there is.
 * - `not_polled`: no poller runs.
 * - `polling_fails`: a poller runs, and its requests fail.
 * - `behind`: it should have been asked for again by now, as after an outage.
 */
export type UnboundedReason =
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
  /**
   * The service's last answer is never older than this while polling goes on,
   * in milliseconds: by the poller's own rate and by what it last counted. It
   * is counted by this machine's clock: where that is set back, what was asked
   * before may be older by as much. Null when no bound can be given.
   */
  readonly maxAgeMs: number | null;
  /** Why no bound can be given; null when one is. */
  readonly unboundedReason: UnboundedReason | null;
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

/**
 * The bound that a poller gives for all orders and users, or why there is none.
 */
export type AgeBound = StalenessBound | "not_polled" | "polling_fails";

/** How fresh what is known of an order or user is. */
export function freshnessOf(
  times: RequestTimes,
  promised: AgeBound,
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
  const bound = boundOf(times, promised, nowMs);
  return typeof bound === "number"
    ? { requestedAt, tier, nextAt, maxAgeMs: bound, unboundedReason: null }
    : { requestedAt, tier, nextAt, maxAgeMs: null, unboundedReason: bound };
}

/** The longest time from one answer to the next, or why no bound is given. */
function boundOf(
  { requestedAt, wasObserved, openDueAtMs }: RequestTimes,
  promised: AgeBound,
  nowMs: number,
): number | UnboundedReason {
  if (requestedAt === null || !wasObserved) return "never_observed";
  if (typeof promised === "string") return promised;
  const askedMs = Date.parse(requestedAt);
  const { anythingMs, recentlyFinalMs } = promised;
  const pauseMs = openDueAtMs === null
    ? Infinity
    : Math.max(0, openDueAtMs - askedMs);
  // The cycle through the past reads it too, whatever its pause has grown to.
  const boundMs = Math.min(anythingMs, pauseMs + recentlyFinalMs);
  const ageMs = nowMs - askedMs;
  // A time in the future was written before our clock was set back.
  return ageMs > boundMs || ageMs < -CLOCK_TOLERANCE_MS ? "behind" : boundMs;
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
 * const { unboundedReason } = await readFreshness(ledger.driver, "order", "01ORDER");
 * assert.equal(unboundedReason, "never_observed");
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
    await readPromised(driver),
    nowMs,
  );
}

async function readPromised(driver: Driver): Promise<AgeBound> {
  const bound = await readPollBound(driver);
  if (bound === null || !await isPolled(driver)) return "not_polled";
  const alarm = pollAlarm(await readPollHealth(driver));
  return alarm === null ? bound.staleness : "polling_fails";
}
