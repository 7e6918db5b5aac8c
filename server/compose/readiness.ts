import { messageOf } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/for_server.ts";
import type { Spool } from "../../webhooks/for_server.ts";
import { readPollHealth } from "../../sync/for_server.ts";
import { pollAlarm, type SweepFailure } from "../../sync/for_resources.ts";
import type { Readiness } from "../http/http_app.ts";

/** What readiness is judged by. */
export interface ReadinessOptions {
  /** Gives the ledger, or throws why there is none. */
  readonly open: () => Ledger | Promise<Ledger>;
  /** Why the ledger refused the latest group; null where it did not. */
  readonly refusal?: string | null;
  /** Where deliveries are stored first; absent where the ledger is. */
  readonly spool?: Pick<Spool, "depth" | "oldestMs" | "ready">;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** The problem of this process's poller; null when there is none. */
  readonly stuck?: SweepFailure | null;
}

/** A delivery that waits for longer than this is worth a word, ms. */
const LATE_MS = 10_000;

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
  const { spool, stuck = null, now } = options;
  const ledger = await lookAtLedger(options);
  const failure = stuck ?? ledger.failure;
  const { why } = ledger;
  const problem = spool === undefined ? why : await spool.ready().then(
    () => null,
    (error) => `${messageOf(error)}${why === null ? "" : `; ${why}`}`,
  );
  const spooled = spool?.depth ?? 0;
  const isLate = now() - (spool?.oldestMs ?? Infinity) > LATE_MS;
  const degraded = [
    ...(why !== null && problem === null
      ? [`The ledger takes no writes, deliveries wait in the spool: ${why}`]
      : []),
    ...(why === null && isLate
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
    problem,
    degraded,
    polling: failure === null ? null : {
      sweep: failure.sweep,
      attempts: failure.attempts,
      since: failure.since,
      nextAttemptAt: failure.nextAttemptAt,
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
