import type { Transition } from "../machines/transition.ts";
import {
  type Deliveries,
  entityKey,
} from "../store/tables/subscriptions/deliveries.ts";
import type {
  QueuedTransition,
  SettledDeliveries,
} from "../store/tables/subscriptions/queued_transitions.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";

/** A transition that is to be handed to a handler. */
export interface Delivery {
  /** The transition. */
  readonly transition: Transition;
  /** How it is queued; null of one that comes from the log. */
  readonly queued: QueuedTransition | null;
  /** What is queued of its order or user and comes before it. */
  readonly earlier: readonly QueuedTransition[];
  /** Whether it has to wait for one in the queue. */
  blocked: boolean;
  /** How it went; null while it has not ended. */
  outcome: Outcome | null;
}

/** How a delivery went. */
export type Outcome =
  /**
   * The handler took it, or something in its place; whether earlier ones of its
   * entity are missing.
   */
  | {
    readonly kind: "delivered";
    readonly passing: boolean;
    readonly handed: Transition;
  }
  /** The handler is not called: the release was withdrawn. */
  | { readonly kind: "parked" }
  /** It failed, or it has to wait for an earlier one: so it is queued. */
  | { readonly kind: "queued"; readonly as: QueuedTransition };

/**
 * A delivery that has not begun.
 *
 * @param transition The transition.
 * @param queued How it is queued; null of one that comes from the log.
 * @param found What was read together with it.
 */
export function deliveryOf(
  transition: Transition,
  queued: QueuedTransition | null,
  found: Deliveries,
): Delivery {
  const ofEntity = found.queued.get(entityKey(transition)) ?? [];
  return {
    transition,
    queued,
    earlier: ofEntity.filter((one) => one.transition.seq < transition.seq),
    blocked: false,
    outcome: null,
  };
}

/** The outcome of a transition that has to wait for an earlier one. */
export function waiting(transition: Transition): Outcome {
  return {
    kind: "queued",
    as: {
      transition,
      state: "waiting",
      attempts: 0,
      dueAt: "",
      error: null,
      overtaken: false,
    },
  };
}

/** What is written of deliveries that have ended. */
export function settledBy(ended: readonly Delivery[]): SettledDeliveries {
  const queued: QueuedTransition[] = [];
  const failed: { before: QueuedTransition; after: QueuedTransition }[] = [];
  const delivered: Transition[] = [];
  const passing: Transition[] = [];
  const released: string[] = [];
  for (const { transition, queued: before, outcome } of ended) {
    if (outcome?.kind === "queued") {
      if (before === null) queued.push(outcome.as);
      else failed.push({ before, after: outcome.as });
      continue;
    }
    if (before !== null) delivered.push(transition);
    if (outcome?.kind !== "delivered") continue;
    const { handed } = outcome;
    if (outcome.passing) passing.push(transition);
    if (handed.logged?.entered === "yes") released.push(handed.id);
    // A `yes` that had failed was handed over in place of `restored`.
    if (handed.seq !== transition.seq) delivered.push(handed);
  }
  return { queued, failed, delivered, passing, released };
}

/** What is known of an order or user while deliveries of it are under way. */
export class EntityDeliveries {
  /** Place of the first that failed: those after it wait in the queue. */
  blockedAt = Infinity;
  /** Deliveries that have not been written. */
  open = 0;
  /** Keys by place in the log that died, and have not been written as dead. */
  readonly died = new Map<number, string>();
  /** Places in the log of those that were delivered. */
  readonly delivered = new Set<number>();

  /** Keys of what comes before a delivery, and was not delivered. */
  missedBefore({ earlier, transition }: Delivery): string[] {
    const missed = new Map(
      earlier.map((one) => [one.transition.seq, one.transition.key]),
    );
    for (const [seq, key] of this.died) missed.set(seq, key);
    return [...missed]
      .filter(([seq]) => seq < transition.seq && !this.delivered.has(seq))
      .sort(([a], [b]) => a - b)
      .map(([, key]) => key);
  }
}

const backoff = { firstMs: 1000, longestMs: 60 * 60_000 };

/**
 * How long a failed delivery waits: one second, doubled with each attempt, up
 * to an hour.
 *
 * @param attempt Attempts made so far, from 1.
 * @returns Milliseconds.
 */
export function redeliveryDelayMs(attempt: number): number {
  return backoffMs(attempt, backoff);
}
