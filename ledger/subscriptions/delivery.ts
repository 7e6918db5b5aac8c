import type { Transition } from "../projection/transition.ts";
import type { QueuedTransition } from "../store/tables/subscriptions/queued_transitions.ts";

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
  /** The handler took it; whether earlier ones of its entity are missing. */
  | { readonly kind: "delivered"; readonly passing: boolean }
  /** It failed, or it has to wait for an earlier one: so it is queued. */
  | { readonly kind: "queued"; readonly as: QueuedTransition };

/** What is known of an order or user while deliveries of it are under way. */
export class EntityDeliveries {
  /** Place of the first that failed: those after it wait in the queue. */
  heldAt = Infinity;
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
