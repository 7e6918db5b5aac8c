import { POLLER_DEFAULTS } from "./sweep_context.ts";
import type {
  DeliveryAlert,
  DeliveryHealth,
} from "../watchdog/watchdog_rule.ts";
import type { PollClient } from "../walk/walk.ts";
import type { PollAlert, PollHealth } from "./poll_health.ts";
import type { SweepKind } from "./fair_share.ts";
import type { SweepRead } from "../recording/recorder.ts";
import type { Driver, OrderState } from "../../ledger/for_sync.ts";
import type { PollStatus } from "./poll_status.ts";
import { sleep, steadyClock } from "../../core/waiting/sleep.ts";
import { defined } from "../../core/guards.ts";

/** What a poller works with, and how. */
export interface PollerOptions {
  /** The ledger that is kept up to date. */
  readonly ledger: PollLedger;
  /** Makes the requests. */
  readonly client: PollClient;
  /** The clock that also stamps webhooks, in ms. @default {Date.now} */
  readonly now?: () => number;
  /**
   * A clock that is never set back, for pauses and for the rate, in ms.
   *
   * @default {performance.now, or where `now` is given that clock, standing
   * still while it is set back}
   */
  readonly steadyNow?: () => number;
  /** Waits, and rejects when aborted. Defaults to a timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random bytes for salts. Defaults to those of the runtime. */
  readonly randomBytes?: (length: number) => Uint8Array;
  /**
   * Name under which the lease is held. A poller that restarts under the same
   * name goes on at once; give each process its own.
   *
   * @default {a random name}
   */
  readonly holder?: string;
  /** How long the lease outlives its holder, in ms. @default {30000} */
  readonly leaseMs?: number;
  /** Requests per second of all sweeps together. @default {4} */
  readonly requestsPerSecond?: number;
  /**
   * Guaranteed parts of the rate; only their proportions count.
   *
   * @default {{ new: 2, open: 3, confirm: 3, deep: 2 }}
   */
  readonly shares?: Readonly<Record<SweepKind, number>>;
  /** Pause between two looks for new orders, in ms. @default {15000} */
  readonly followEveryMs?: number;
  /** Pause between two looks at what webhooks named, in ms. @default {1000} */
  readonly confirmEveryMs?: number;
  /**
   * Shortest time between two confirming reads of the same id, in ms. It keeps
   * repeated webhooks from asking the service again and again.
   *
   * @default {10000}
   */
  readonly confirmAtLeastMs?: number;
  /** Pause between two looks for open orders, in ms. @default {5000} */
  readonly openEveryMs?: number;
  /** Shortest time of one cycle through the past, in ms. @default {3600000} */
  readonly deepCycleAtLeastMs?: number;
  /** Orders or users a window should hold at most. @default {200} */
  readonly itemsPerWindow?: number;
  /**
   * How long the service may disagree with a claim before it is contradicted,
   * in ms. A shorter time ends forged claims sooner, and true ones that the
   * service shows late.
   *
   * @default {600000}
   */
  readonly contradictedAfterMs?: number;
  /** Pause between two looks of the watchdog, in ms. @default {30000} */
  readonly watchEveryMs?: number;
  /** Called after each check of webhook delivery, for a gauge. */
  readonly onWatch?: (health: DeliveryHealth) => void;
  /**
   * Called when webhook delivery fails, and when it works again. Polling
   * waits for it; where it fails, it is called again at the next look.
   */
  readonly onAlert?: (alert: DeliveryAlert) => void | Promise<void>;
  /**
   * Called once when polling fails, and once when it works again: when every
   * sweep that failed has ended well.
   */
  readonly onPollAlert?: (alert: PollAlert) => void;
  /** Called with the health of polling: on changes and watchdog checks. */
  readonly onPollHealth?: (health: PollHealth) => void;
  /** Called with each response of the service. */
  readonly onProgress?: (progress: PollProgress) => void;
  /** Called with each error; work is retried automatically. */
  readonly onError?: (error: unknown, sweep: SweepKind | null) => void;
}

/** How far a poller has come. */
export interface PollProgress extends SweepRead {
  /** Sweep that read it. */
  readonly sweep: SweepKind;
  /** Requests so far. */
  readonly requests: number;
}

/** What the poller needs of a ledger: `Ledger` fits. */
export interface PollLedger {
  /** The database. */
  readonly driver: Driver;
  /** Folds what is new, and extends the evidence chain. */
  project(options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  /**
   * Calls a function whenever this process has folded webhooks. Without it, the
   * poller looks for what they named once a second.
   */
  onRequested?(listener: () => void): Disposable;
}

/** What comparing needs of a ledger: `Ledger` fits. */
export interface ReconcileLedger extends PollLedger {
  /** Orders as folded so far. */
  readonly orders: {
    /** One order by its id. */
    get(orderId: string): Promise<OrderState | null>;
    /** Orders of a stretch of creation time. */
    list(query?: {
      readonly createdAfter?: string;
      readonly createdUpTo?: string;
      readonly sort?: "newest" | "oldest";
    }): AsyncIterable<OrderState>;
  };
}

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
   */
  pollNow(): boolean;
  /** Reads the progress of the poller; needs no lease. */
  status(): Promise<PollStatus>;
}

/** A poller's options with nothing left out. */
export type PollerSettings =
  & PollerOptions
  & typeof POLLER_DEFAULTS
  & Required<Pick<PollerOptions, "now" | "steadyNow" | "sleep" | "holder">>
  & {
    /** Pause between two renewals of the lease, in ms. */
    readonly renewMs: number;
  };

/** Fills in what the options leave out. */
export function pollerSettings(options: PollerOptions): PollerSettings {
  const { now = Date.now } = options;
  const settings = {
    ...POLLER_DEFAULTS,
    now,
    steadyNow: options.now === undefined
      ? () => performance.now()
      : steadyClock(now),
    sleep,
    holder: `poller-${crypto.randomUUID()}`,
    ...defined(options),
  };
  return {
    ...settings,
    burst: Math.max(2, settings.requestsPerSecond / 2),
    // Two renewals may fail before the lease is lost.
    renewMs: settings.leaseMs / 3,
  };
}
