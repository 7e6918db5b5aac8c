import type { Transition, TransitionHandler } from "../../ledger/mod.ts";
import type { WebhookMessage } from "./signed_webhook.ts";

/** What a subscription says of a transition besides the transition itself. */
export type TransitionContext = Pick<
  Parameters<TransitionHandler>[1],
  "state" | "position" | "current" | "release" | "missed" | "late"
>;

/** What is forwarded of a transition. */
export interface ForwardedTransition {
  /** Permanent id of the transition. */
  readonly key: string;
  /** Its place in the log: orders what a crash repeated. */
  readonly seq: number;
  /** `order` or `user`. */
  readonly entity: string;
  /** The machine that moved: `order`, or `lkyc`, `fkyc`, `ban` of a user. */
  readonly machine: string;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`. */
  readonly trust: string;
  /** The status entered. */
  readonly status: string;
  /** Which entry into this status with this trust it is. */
  readonly entry: number;
  /** What was visible before; null when nothing was. */
  readonly previous: Transition["previous"];
  /** Other final statuses that the service takes back by it. */
  readonly reverses: readonly string[];
  /** Of an order, whether to release the goods by what is known now. */
  readonly release: TransitionContext["release"];
  /** Whether `state` still shows the status and trust of the transition. */
  readonly current: boolean;
  /** The order or user as it is when this is sent; amounts are strings. */
  readonly state: TransitionContext["state"];
  /** Position of the last event that `state` has in it. */
  readonly position: number;
  /** Keys of earlier transitions that could not be sent, and were given up. */
  readonly missed: readonly string[];
  /** Whether later transitions of the same order or user were sent before. */
  readonly late: boolean;
}

/**
 * What a transition is called in the `type` of its webhook.
 *
 * @returns For example `order.confirmed.success`, `user.fkyc.confirmed.retry`.
 */
export function transitionType(
  { entity, machine, trust, status }: Pick<
    Transition,
    "entity" | "machine" | "trust" | "status"
  >,
): string {
  return [entity, ...(machine === entity ? [] : [machine]), trust, status]
    .join(".");
}

/** The webhook that tells of a transition. */
export function transitionMessage(
  transition: Transition,
  { state, position, current, release, missed, late }: TransitionContext,
): WebhookMessage & { readonly data: ForwardedTransition } {
  const { key, seq, entity, machine, id, trust, status, entry } = transition;
  const { previous, reverses } = transition;
  return {
    id: key,
    type: transitionType(transition),
    timestamp: transition.recordedAt,
    data: {
      ...{ key, seq, entity, machine, id, trust, status, entry },
      ...{ previous, reverses, release, current, state, position },
      ...{ missed, late },
    },
  };
}
