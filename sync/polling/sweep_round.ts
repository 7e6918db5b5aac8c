import { readSweep } from "../../ledger/for_sync.ts";
import type { SweepKind } from "./fair_share.ts";
import { isServiceFailure, type ServiceFailure } from "../walk/poll_client.ts";
import type { Steps } from "../walk/steps.ts";
import { newSweepName } from "./sweep_new.ts";
import type { SweepSchedulerOptions } from "./sweep_scheduler.ts";

/** Sweeps of one round, in their order. */
const round: readonly SweepKind[] = ["new", "confirm", "open", "deep"];

/** What a round of sweeps works with. */
export interface SweepRoundOptions
  extends Omit<SweepSchedulerOptions, "signal"> {
  /** Which sweeps to run. */
  readonly kinds: readonly SweepKind[];
  /** Ends the work between two requests. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs each sweep to its end once, the later ones even where the service failed
 * an earlier one.
 *
 * @param parts What to work with.
 * @returns The first failure of the service; null when there was none.
 * @throws {PollError} `lease_lost` when another poller took over.
 * @throws {LedgerError} When the database fails.
 */
export async function runSweepRound(
  parts: SweepRoundOptions,
): Promise<ServiceFailure | null> {
  const { session, options: { ledger }, failures, kinds, signal } = parts;
  const project = () => ledger.project(signal === undefined ? {} : { signal });
  await project();
  const stored = await readSweep(ledger.driver, newSweepName("order"));
  let failure: ServiceFailure | null = null;
  for (const kind of round) {
    if (!kinds.includes(kind)) continue;
    // The new sweep has just walked through the whole past.
    if (kind === "deep" && stored === null && kinds.includes("new")) continue;
    try {
      await finish(parts, kind, session.sweep(kind, true));
      await failures.worked(kind);
    } catch (error) {
      if (!isServiceFailure(error) || signal?.aborted) throw error;
      failure ??= error;
    }
    await project();
  }
  return failure;
}

/** Runs one sweep to its end under the rate. */
async function finish(
  { meter, settings, failures, signal }: SweepRoundOptions,
  kind: SweepKind,
  sweep: Steps,
): Promise<void> {
  try {
    for (;;) {
      signal?.throwIfAborted();
      const turn = meter.turn([kind]);
      if ("waitMs" in turn) {
        await settings.sleep(turn.waitMs, signal);
        continue;
      }
      const { done, value } = await sweep.next();
      if (done === true) return;
      await failures.stepped();
      meter.spend(kind, value);
    }
  } catch (error) {
    if (signal?.aborted !== true) await failures.failed(kind, error, null);
    throw error;
  } finally {
    await sweep.return();
  }
}
