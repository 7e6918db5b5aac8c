import type { Projection } from "./ledger_parts.ts";
import type { PollClient } from "./polling/poll_client.ts";
import type { PollLedger } from "./polling/poll_ledger.ts";
import { createPoller } from "./polling/poller.ts";
import type { PollerOptions } from "./polling/poller_options.ts";
import { ProjectionWorker } from "./projection/projection_worker.ts";

/** How {@linkcode Ledger.run} works. */
export interface RunOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /**
   * Asks the service: `OnrampClient` fits. Without one nothing is confirmed,
   * unless another process polls.
   *
   * @default nobody asks
   */
  readonly client?: PollClient;
  /** Settings of the poller. @default {those of the poller} */
  readonly poll?: Omit<PollerOptions, "ledger" | "client" | "onError">;
  /**
   * Told of what failed; it is tried again by itself.
   *
   * @default {nobody is told}
   */
  readonly onError?: (error: unknown, work: "project" | "poll") => void;
  /**
   * Told of what each look at the ledger came to, also whether its evidence
   * chain is whole.
   *
   * @default {nobody is told}
   */
  readonly onProjected?: (projection: Projection) => void;
}

/** What of a ledger runs. */
export interface RunParts {
  /** The ledger. */
  readonly ledger: PollLedger & {
    project(options: {
      readonly signal: AbortSignal;
      readonly pace: () => Promise<number>;
    }): Promise<Projection>;
  };
  /** Told of appends, as long as it runs. */
  readonly workers: Set<ProjectionWorker>;
}

/**
 * Folds, chains and polls until the signal is aborted, and then folds what is
 * left.
 *
 * @throws {RangeError} When a setting of the poller is wrong.
 */
export async function runLedger(
  { ledger, workers }: RunParts,
  options: RunOptions,
): Promise<void> {
  const { signal, client, poll } = options;
  const { onError = () => {}, onProjected = () => {} } = options;
  const poller = client && createPoller({
    ...poll,
    ledger,
    client,
    onError: (error) => onError(error, "poll"),
  });
  const worker = new ProjectionWorker({
    catchUp: async (signal, pace) =>
      onProjected(await ledger.project({ signal, pace })),
    onError: (error) => onError(error, "project"),
  });
  workers.add(worker);
  try {
    await (poller === undefined ? aborted(signal) : poller.run(signal));
  } finally {
    workers.delete(worker);
    await worker.stop();
  }
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", resolve, { once: true });
  });
}
