import { messageOf } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { readPollHealth } from "../../ledger/polling/poll_failures.ts";
import {
  pollAlarm,
  type SweepFailure,
} from "../../ledger/polling/poll_health.ts";
import type { Readiness } from "../serving/http_app.ts";

/** What readiness is judged by. */
export interface ReadinessOptions {
  /** Gives the ledger, or throws why there is none. */
  readonly open: () => Ledger | Promise<Ledger>;
  /** Why the ledger refused the latest delivery; null where it did not. */
  readonly refusal?: string | null;
  /** Where deliveries wait while the ledger takes none; absent without one. */
  readonly spool?: {
    /** Deliveries that wait there. */
    readonly depth: number;
    /** Why it takes none; null when it does. */
    readonly problem: () => Promise<string | null>;
  };
  /** The problem of this process's poller; null when there is none. */
  readonly stuck?: SweepFailure | null;
}

/**
 * Checks whether deliveries are stored durably, and what else is wrong.
 *
 * Only where nothing durable takes them it is a problem: a load balancer then
 * takes the endpoint out, and the service switches delivery off. Everything
 * else is `degraded`.
 */
export async function readinessOf(
  options: ReadinessOptions,
): Promise<Readiness> {
  const { spool, stuck = null } = options;
  const spooled = spool?.depth ?? 0;
  const ledger = await lookAtLedger(options);
  const failure = stuck ?? ledger.failure;
  const why = ledger.why;
  const spoolWhy = why === null || spool === undefined
    ? null
    : await spool.problem();
  const durable = why === null || (spool !== undefined && spoolWhy === null);
  const degraded = [
    ...(why === null || !durable
      ? []
      : [`The ledger takes no writes, deliveries go to the spool: ${why}`]),
    ...(why === null && spooled > 0
      ? [`Deliveries wait in the spool: ${spooled}`]
      : []),
    ...(failure === null
      ? []
      : [`Polling fails since ${failure.since}: ${failure.cause}`]),
  ];
  return {
    writable: why === null,
    lag: ledger.lag,
    spooled,
    problem: durable
      ? null
      : spoolWhy === null
      ? why
      : `${why}; the spool: ${spoolWhy}`,
    degraded,
    polling: failure === null ? null : {
      sweep: failure.sweep,
      attempts: failure.attempts,
      since: failure.since,
      nextTryAt: failure.nextTryAt,
      cause: failure.cause,
      status: failure.status,
    },
  };
}

async function lookAtLedger(
  { open, refusal = null }: ReadinessOptions,
): Promise<
  {
    readonly why: string | null;
    readonly lag: number | null;
    readonly failure: SweepFailure | null;
  }
> {
  try {
    const ledger = await open();
    const lag = await ledger.lag();
    const failure = pollAlarm(await readPollHealth(ledger.driver));
    try {
      await ledger.probe();
    } catch (error) {
      return { why: messageOf(error), lag, failure };
    }
    return { why: refusal, lag, failure };
  } catch (error) {
    return { why: messageOf(error), lag: null, failure: null };
  }
}
