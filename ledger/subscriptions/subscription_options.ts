import type { AssetTable } from "../../core/assets/environment.ts";
import type { Release } from "../outcomes/outcome_table.ts";
import type { OrderState } from "../states/order_state.ts";
import type { UserState } from "../users/user_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import type {
  TransitionPattern,
  UnlistedPattern,
} from "../machines/pattern.ts";
import type { Transition } from "../machines/transition.ts";

/**
 * Called for each transition, at least once: again when it throws, and after a
 * crash. Remember `transition.key` to recognise a repeat.
 */
export type TransitionHandler = (
  transition: Transition,
  context: {
    /** Attempts including this one, from 1. */
    readonly attempt: number;
    /** Aborted when the subscription is stopped. */
    readonly signal: AbortSignal;
    /**
     * The order or user as it is now, which may be another status than that of
     * the transition; null when the ledger has none.
     */
    readonly state: OrderState | UserState | null;
    /** Position of the last event that `state` has in it. */
    readonly position: number;
    /** Whether it still shows the status and trust of the transition. */
    readonly current: boolean;
    /**
     * Of an order, whether the goods may be released by what is known now;
     * null of a user. Release goods on `yes` only.
     */
    readonly release: Release | null;
    /** Why, one code; null of a user. */
    readonly releaseReason: OrderState["releaseReason"] | null;
    /**
     * Of an order, the partner's own reference that it was matched with: what
     * to release. Never what the click id stands for: under one click id several
     * baskets may have been expected. Null where it matches none, and of a user.
     */
    readonly reference: string | null;
    /**
     * Keys of earlier transitions of the same order or user that failed
     * permanently: the handler never completed them.
     */
    readonly missed: readonly string[];
    /**
     * True of a dead letter that is delivered again after later transitions of
     * its order or user were.
     */
    readonly late: boolean;
  },
) => void | Promise<void>;

/** Which transitions a subscription receives, and how it handles failures. */
export interface SubscribeOptions {
  /**
   * What to receive: `order.release.yes`, or several such patterns. Those
   * that name no state of a machine do not compile, and throw a `TypeError`;
   * see {@linkcode unlisted} for statuses that this version does not know.
   */
  readonly on:
    | TransitionPattern
    | UnlistedPattern
    | readonly (TransitionPattern | UnlistedPattern)[];
  /**
   * Where a name that was never used before begins: with what happens from
   * `now` on, or at the `start` of the ledger. A known name goes on where it
   * was.
   *
   * @default "now"
   */
  readonly from?: "now" | "start";
  /**
   * How many orders and users the handler is called for at a time; within each
   * of them one call follows the other.
   *
   * @default 16
   */
  readonly concurrency?: number;
  /**
   * Attempts before a transition is dead. Later ones of its order or user go on
   * without it, and name it as `missed`.
   *
   * @default 10
   */
  readonly maxAttempts?: number;
  /**
   * Wait after a failed attempt, in ms and at most 31 days, by how many were
   * made and what the last one failed with.
   *
   * @default one second, doubled each time, up to an hour
   */
  readonly retryDelayMs?: (attempt: number, error: unknown) => number;
  /**
   * How long after a crash another process takes over this name, in ms: the
   * duration of the lease, which the delivering process keeps renewing.
   *
   * @default 10_000
   */
  readonly leaseMs?: number;
  /**
   * Called when this process begins to deliver, and when it begins to wait
   * because another one delivers under this name.
   */
  readonly onTurn?: (turn: "delivers" | "waits") => void;
  /**
   * Interval between two looks for transitions of other processes, in ms.
   *
   * @default 1000
   */
  readonly idleMs?: number;
  /** Called when the database fails; the subscription continues automatically. */
  readonly onError?: (error: unknown) => void;
  /**
   * Whether it delivers automatically; if not, call
   * {@linkcode Subscription.dispatch}.
   *
   * @default true
   */
  readonly start?: boolean;
  /** Steady clock, in ms; passed in by tests. */
  readonly steadyNow?: () => number;
  /** Waits; passed in by tests. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** What one call of {@linkcode Subscription.dispatch} did. */
export interface Dispatched {
  /** Transitions that the handler completed. */
  readonly delivered: number;
  /** Calls of the handler that failed. */
  readonly failed: number;
  /** Set when nothing was delivered because another process delivers. */
  readonly isWaiting?: true;
}

/** What a subscription works with. */
export interface SubscriptionParts {
  readonly driver: Driver;
  /** The clock, in ms. */
  readonly now: () => number;
  readonly name: string;
  readonly options: SubscribeOptions;
  readonly handler: TransitionHandler;
  /** That of the ledger: its states say what its fold has decided. */
  readonly assets: AssetTable;
  /**
   * Longest wait before another attempt, in ms. What would be due later was
   * queued while the clock was ahead, and is due at once.
   *
   * @default {31 days}
   */
  readonly longestDelayMs?: number;
  /** Names this process in the lease. @default {a new name} */
  readonly holder?: string;
  /** Asked before each turn: whether it may begin. @default {it may} */
  readonly mayBegin?: () => Promise<boolean>;
  /** Called after each renewal of the lease. */
  readonly onRenewed?: () => Promise<void>;
}
