import type { Projection } from "./ledger_parts.ts";
import { ProjectionWorker } from "./projection/projection_worker.ts";
import { type Historic, HistoryReport } from "./releases/historic.ts";

/** How {@linkcode Ledger.run} works. */
export interface RunOptions {
  /** Ends it. */
  readonly signal: AbortSignal;
  /**
   * Asks the service: what `createPoller` made. Without one nothing is
   * confirmed, unless another process polls.
   *
   * @default nobody asks
   */
  readonly poller?: {
    /** Polls until the signal is aborted. */
    run(signal: AbortSignal): Promise<void>;
  };
  /**
   * Called with each error; work is retried automatically.
   *
   * @default {none}
   */
  readonly onError?: (error: unknown) => void;
  /**
   * Called after each projection pass, also with the state of the evidence
   * chain.
   *
   * @default {none}
   */
  readonly onProjected?: (projection: Projection) => void;
  /**
   * Called once with how many orders had ended, and how many users were there,
   * before the ledger went live, and how many of the orders are listed for a
   * person: nobody is told of them. It is called a minute after the last of them
   * was read.
   *
   * @default {none}
   */
  readonly onWithheld?: (historic: Historic) => void;
}

/** What `runLedger` needs. */
export interface RunParts {
  /** The ledger. */
  readonly ledger: {
    project(options: {
      readonly signal: AbortSignal;
      readonly pace: () => Promise<number>;
    }): Promise<Projection>;
    historic(): Promise<Historic>;
  };
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Called on appends while it runs. */
  readonly workers: Set<ProjectionWorker>;
}

/**
 * Folds, chains and polls until the signal is aborted, and then folds what is
 * left.
 */
export async function runLedger(
  { ledger, workers, now }: RunParts,
  options: RunOptions,
): Promise<void> {
  const { signal, poller } = options;
  const { onError = () => {}, onProjected = () => {} } = options;
  const report = new HistoryReport({
    read: () => ledger.historic(),
    tell: options.onWithheld ?? (() => {}),
    now,
  });
  const worker = new ProjectionWorker({
    catchUp: async (signal, pace) => {
      await report.look();
      onProjected(await ledger.project({ signal, pace }));
    },
    onError,
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
