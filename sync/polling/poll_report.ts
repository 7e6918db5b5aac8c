import type { PollStatus } from "./poll_status.ts";
import type { SweepKind } from "./fair_share.ts";
import type { SweepRead } from "../recording/record_page.ts";
import type { DeliveryHealth } from "../watchdog/watchdog_rule.ts";

/** What a poller did. */
export type PollReport = PollCompleted | PollSkipped;

/** Another poller holds the lease; nothing was done. */
export interface PollSkipped {
  /** Marks that nothing was done. */
  readonly ran: false;
  /** Who holds it. */
  readonly heldBy: string;
  /** Time until it ends unless it is renewed, in milliseconds. */
  readonly leftMs: number;
}

/** Every sweep ran once. */
export interface PollCompleted extends SweepRead {
  /** Marks that the sweeps ran. */
  readonly ran: true;
  /** When they began, UTC ISO 8601. */
  readonly startedAt: string;
  /** When they ended, UTC ISO 8601. */
  readonly finishedAt: string;
  /** Requests made, by sweep. */
  readonly requests: Readonly<Record<SweepKind, number>>;
  /** Progress of the poller. */
  readonly status: PollStatus;
  /** Health of webhook delivery. */
  readonly delivery: DeliveryHealth;
}

/** Keeps a ledger up to date from the Data API. */
export interface Poller {
  /**
   * Runs each sweep to its end once: from nothing the whole past with proof,
   * then what is new, open, named by webhooks, and the past again.
   *
   * @throws {OnrampError} When the service fails; what was read stays.
   * @throws {LedgerError} When the database fails.
   * @throws {PollError} `lease_lost` when another poller took over.
   */
  once(options?: {
    /** Ends the work between two requests. */
    readonly signal?: AbortSignal;
    /** Which sweeps to run. @default {all of them} */
    readonly sweeps?: readonly SweepKind[];
  }): Promise<PollReport>;
  /**
   * Runs the sweeps until aborted, under one rate with guaranteed shares; waits
   * while another poller holds the lease, and takes over when it is gone.
   * Errors are passed to `onError`, and the work is retried.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Lets {@linkcode Poller.run} start the sweeps at once that read what is new,
   * what webhooks named and every open order, whatever they wait for.
   *
   * @returns False when it does not run, or another poller holds the lease.
   */
  pollNow(): boolean;
  /** Reads the progress of the poller; needs no lease. */
  status(): Promise<PollStatus>;
}
