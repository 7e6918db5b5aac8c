import type {
  OrderState,
  Release,
  ReleaseReason,
  Transition,
  TransitionHandler,
  UserState,
} from "../../ledger/mod.ts";
import { transitionName } from "../../ledger/for_server.ts";
import type { WebhookMessage } from "./signed_webhook.ts";

/** What a subscription says of a transition besides the transition itself. */
export type TransitionContext = Pick<
  Parameters<TransitionHandler>[1],
  | "state"
  | "position"
  | "current"
  | "release"
  | "releaseReason"
  | "reference"
  | "missed"
  | "late"
>;

/** What is forwarded of a transition. */
export interface ForwardedTransition {
  /** Permanent id of the transition. */
  readonly key: string;
  /** Its place in the log: orders what a crash repeated. */
  readonly seq: number;
  /** `order` or `user`. */
  readonly entity: string;
  /** The machine that moved: `order`, `release` or `witness`; `lkyc`, `fkyc` or `ban`. */
  readonly machine: string;
  /** Order or user identifier. */
  readonly id: string;
  /** `claimed` or `confirmed`; of a release that of the order's status. */
  readonly trust: string;
  /** The status entered; of a release the status that the order showed. */
  readonly status: string;
  /** Which entry into this status with this trust it is. */
  readonly entry: number;
  /** What was visible before; null when nothing was. */
  readonly previous: Transition["previous"];
  /**
   * Other final statuses that the service takes back by it; of a release `yes`,
   * where it is taken back.
   */
  readonly reverses: readonly string[];
  /** What a release was logged as; null of other machines. */
  readonly logged: Transition["logged"];
  /** `unchecked`, where a `yes` follows it: do not ship again. */
  readonly after: readonly string[];
  /** Of an order, whether to release the goods by what is known now. */
  readonly release: Release | null;
  /** Why, one code; null of a user. */
  readonly releaseReason: ReleaseReason | null;
  /** Of an order, the reference of yours that it was matched with. */
  readonly reference: string | null;
  /**
   * Of an order, what you asked for: what it was compared with, whether it
   * agrees or not. It names your basket where `reference` is null; null where
   * nothing fits, and of a user.
   */
  readonly askedFor: OrderState["expected"];
  /** Whether `state` still shows the status and trust of the transition. */
  readonly current: boolean;
  /** The order or user as it is when this is sent; amounts are strings. */
  readonly state: OrderState | UserState | null;
  /** Position of the last event that `state` has in it. */
  readonly position: number;
  /** Keys of earlier transitions that could not be sent, and were given up. */
  readonly missed: readonly string[];
  /** Whether later transitions of the same order or user were sent before. */
  readonly late: boolean;
}

/** What was asked for of an order, by its state. */
export function askedForOf(
  state: OrderState | UserState | null,
): OrderState["expected"] {
  return state !== null && "expected" in state ? state.expected : null;
}

/** What a transition is called in the `type` of its webhook. */
export function transitionType(
  transition: Pick<
    Transition,
    "entity" | "machine" | "trust" | "status" | "logged"
  >,
): string {
  const { entity, machine, trust, status } = transitionName({
    ...transition,
    id: "",
    entry: 1,
  });
  return [entity, ...(entity === "order" ? [] : [machine]), trust, status]
    .join(".");
}

/** The webhook of a transition. */
export function transitionMessage(
  transition: Transition,
  {
    state,
    position,
    current,
    release,
    releaseReason,
    reference,
    missed,
    late,
  }: TransitionContext,
): WebhookMessage<ForwardedTransition> {
  const { key, seq, entity, machine, id, trust, status, entry } = transition;
  const { previous, reverses, logged, after } = transition;
  return {
    id: key,
    type: transitionType(transition),
    timestamp: transition.recordedAt,
    data: {
      ...{ key, seq, entity, machine, id, trust, status, entry },
      ...{ previous, reverses, logged, after },
      ...{ release, releaseReason, reference, current, state, position },
      askedFor: askedForOf(state),
      ...{ missed, late },
    },
  };
}
