import { messageOf } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/for_server.ts";
import type { Spool } from "../../webhooks/for_server.ts";
import type { SweepFailure } from "../../sync/for_resources.ts";
import {
  type Finding,
  gathered,
  lookedAt,
  stands,
} from "../../resources/health/finding.ts";
import { lookAtPolling } from "../../resources/health/polling_health.ts";
import { storingFindings } from "../../resources/health/storing_health.ts";
import type { Readiness } from "../http/http_app.ts";

/** What readiness depends on. */
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
  /** What else was found lately. @default {nothing} */
  readonly found?: readonly Finding[];
}

/**
 * Checks whether deliveries are stored durably, and what else is wrong.
 *
 * It is a problem only when nothing durable takes them: a load balancer then
 * takes the endpoint out, and the service switches delivery off. Everything
 * else is `degraded`, or a condition.
 */
export async function readinessOf(
  options: ReadinessOptions,
): Promise<Readiness> {
  const { writable, lag, spooled, problem, findings } = await lookAtStoring(
    options,
  );
  const standing = findings.filter(stands);
  const seenNow = new Set(findings.map(({ subject }) => subject));
  const before = options.found?.filter(({ subject }) => !seenNow.has(subject));
  return {
    writable,
    lag,
    spooled,
    problem,
    degraded: problem === null ? standing.map(({ detail }) => detail) : [],
    conditions: gathered([findings, before ?? []]).filter(stands)
      .map(({ code, level, since }) => ({ code, level, since })),
  };
}

/** Where deliveries are stored, and how polling is. */
export async function lookAtStoring(
  { open, refusal = null, spool, now, stuck = null }: ReadinessOptions,
): Promise<
  & Pick<Readiness, "writable" | "lag" | "spooled" | "problem">
  & { readonly findings: readonly Finding[] }
> {
  let why: string | null = refusal;
  let lag: number | null = null;
  let polling: readonly Finding[] = [];
  try {
    const ledger = await open();
    lag = await ledger.lag();
    polling = await lookedAt(
      "polling",
      () => lookAtPolling(ledger.driver, now(), stuck),
    );
    await ledger.probe();
  } catch (error) {
    why = messageOf(error);
  }
  const problem = spool === undefined ? why : await spool.ready().then(
    () => null,
    (error) => `${messageOf(error)}${why === null ? "" : `; ${why}`}`,
  );
  const spooled = spool?.depth ?? 0;
  const oldestMs = spool?.oldestMs ?? null;
  const storing = { problem, refusal: why, spooled, oldestMs };
  return {
    writable: why === null,
    lag,
    spooled,
    problem,
    findings: [
      ...storingFindings(storing, now()),
      // Whether nobody polls is no matter of deliveries.
      ...polling.filter(({ level }) => level !== "warning"),
    ],
  };
}
