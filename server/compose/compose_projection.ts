import { messageOf } from "../../core/guards.ts";
import {
  historyReport,
  type Ledger,
  ProjectionWorker,
} from "../../ledger/for_server.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { ChainLog } from "../monitoring/chain_log.ts";
import type { ServiceParts } from "./service_parts.ts";

/** The projection, and its state. */
export interface ComposedProjection {
  /** Folds and chains. */
  readonly projection: Projection;
  /** Since when stored events are not folded; null while they are. */
  readonly foldFailingSince: () => string | null;
}

/**
 * Folds and chains by a worker where the process is long-lived, and after each
 * append otherwise.
 */
export function composeProjection(
  { ledger, log, metrics, now, longLived }: ServiceParts,
  checkReplaced: (error: unknown) => void,
): ComposedProjection {
  const chainLog = new ChainLog({ log, now });
  const failing = new Alarm(log, "projection_failing", now);
  const catchUp = async (
    options?: Parameters<Ledger["project"]>[0],
  ): Promise<void> => {
    const { chain } = await ledger.project(options);
    chainLog.take(chain);
  };
  const reportHistory = historyReport({
    read: () => ledger.historic(),
    report: ({ orders, users, listed }) =>
      log("info", "history_withheld", { orders, users, listed }),
    now,
  });
  const events = {
    onDone: () => failing.clear(),
    onError: (error: unknown) => {
      checkReplaced(error);
      failing.raise({ message: messageOf(error) });
    },
  };
  const projection = longLived
    ? new ProjectionWorker({
      ...events,
      catchUp: async (signal) => {
        await reportHistory();
        await catchUp({ signal });
        metrics.lag(await ledger.lag());
      },
    })
    : new ProjectionOnDemand(catchUp, events);
  return {
    projection,
    foldFailingSince: () => failing.since,
  };
}

/** Folds and chains what was appended, behind the endpoint's answer. */
export interface Projection {
  /** Reports that events were appended. */
  wake(): void;
  /** Ends the work that is under way, and resolves. */
  stop(): Promise<void>;
}

/** Callbacks for the results of folding. */
export interface ProjectionEvents {
  /** Called with each error. */
  readonly onError: (error: unknown) => void;
  /** Called after each success. */
  readonly onDone: () => void;
}

/**
 * Folds only after appends, for a runtime that may stop between two requests.
 * One fold runs at a time; one more folds what arrives meanwhile. A fold that
 * failed is tried again after the next append.
 */
export class ProjectionOnDemand implements Projection {
  readonly #catchUp: () => Promise<void>;
  readonly #events: ProjectionEvents;
  #running: Promise<void> | null = null;
  #again = false;

  /** Waits for the first append. */
  constructor(catchUp: () => Promise<void>, events: ProjectionEvents) {
    this.#catchUp = catchUp;
    this.#events = events;
  }

  /** Folds now, or once more after the fold that is under way. */
  wake(): void {
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no fold is under way. */
  async stop(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        await this.#catchUp();
      }
      this.#events.onDone();
    } catch (error) {
      this.#events.onError(error);
    } finally {
      this.#running = null;
    }
  }
}
