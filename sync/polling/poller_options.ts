import type { DeliveryAlert } from "../watchdog/delivery_alert.ts";
import type { PollClient } from "../walk/poll_client.ts";
import type { PollAlert } from "./poll_failures.ts";
import type { PollHealth } from "./poll_health.ts";
import type { PollLedger } from "./poll_ledger.ts";
import type { SweepKind } from "./fair_share.ts";
import type { SweepRead } from "../recording/record_page.ts";
import type { DeliveryHealth } from "../watchdog/watchdog_rule.ts";

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
  /** How far back the look for new orders starts, in ms. @default {120000} */
  readonly overlapMs?: number;
  /** Younger than this, the past may still change, in ms. @default {60000} */
  readonly settleMs?: number;
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
  /** How long a webhook may take, in ms. @default {360000} */
  readonly webhookGraceMs?: number;
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
