import type { OrderState, Transition, UserState } from "../../ledger/mod.ts";
import type { AnsweredRequest } from "../../webhooks/mod.ts";
import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import { isOrderEvent } from "../../core/webhook_event/webhook_event.ts";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import { transitionType } from "../../server/forwarding/transition_message.ts";

/** Something that happened: a delivery, a transition, a forwarded webhook. */
export interface Activity {
  /**
   * `in`: a delivery came and was answered. `now`: an order or user entered a
   * status. `out`: a webhook was sent on.
   */
  readonly kind: "in" | "now" | "out";
  /** When it happened, UTC ISO 8601 with milliseconds. */
  readonly time: string;
  /** Type of the webhook, or of the transition. */
  readonly type: string;
  /** What it is about; null where that is not known. */
  readonly entity: "order" | "user" | null;
  /** Order or user identifier. */
  readonly id: string | null;
  /** What the customer pays, a decimal string. */
  readonly currencyAmount: string | null;
  /** In which currency. */
  readonly currency: string | null;
  /** What the customer gets, a decimal string. */
  readonly cryptoAmount: string | null;
  /** Of which asset. */
  readonly commodity: string | null;
  /** Status of the answer, ours or the target's. */
  readonly answer: number | null;
  /** Time until the answer, in ms. */
  readonly tookMs: number | null;
  /** Of `out`: where it was sent. */
  readonly target: string | null;
  /** What else there is to say: why it was refused, or whether to release. */
  readonly detail: string | null;
}

/** An activity of which only kind and time are known yet. */
function begin(kind: Activity["kind"], nowMs: number): Activity {
  return {
    kind,
    time: new Date(nowMs).toISOString(),
    type: "",
    entity: null,
    id: null,
    currencyAmount: null,
    currency: null,
    cryptoAmount: null,
    commodity: null,
    answer: null,
    tookMs: null,
    target: null,
    detail: null,
  };
}

/** Most characters of a detail that came from outside. */
const LONGEST_DETAIL = 200;
/** Longer than any id or amount of the service; a forged one has no limit. */
const LONGEST_VALUE = 120;

/** A request that the endpoint answered. Never throws, whatever the body. */
export function answeredActivity(
  { delivery, status, refusal, durationMs }: AnsweredRequest,
  nowMs: number,
): Activity {
  return {
    ...begin("in", nowMs),
    ...(delivery === null ? { type: "refused" } : contentOf(delivery.body)),
    ...(refusal === null ? {} : { detail: refusal }),
    answer: status,
    tookMs: Math.round(durationMs),
  };
}

function contentOf(body: Uint8Array): Partial<Activity> {
  const { type, why } = classify(bodyValue(body));
  if (why !== null) return { type, detail: why.slice(0, LONGEST_DETAIL) };
  const event = parseWebhook(body);
  if (isOrderEvent(event)) {
    const { id, quote, quote_amount, base, base_amount } = event.order;
    return {
      type,
      entity: "order",
      id: value(id),
      currency: value(quote),
      currencyAmount: value(quote_amount),
      commodity: value(base),
      cryptoAmount: value(base_amount),
    };
  }
  const id = event.type === "otp_status"
    ? event.user_id
    : "user" in event
    ? event.user?.user_id
    : undefined;
  return { type, entity: id === undefined ? null : "user", id: value(id) };
}

function value(text: string | undefined): string | null {
  return text?.slice(0, LONGEST_VALUE) || null;
}

/** A transition, with the order or user as it is now. */
export function transitionActivity(
  transition: Transition,
  state: OrderState | UserState | null,
  nowMs: number,
): Activity {
  const { entity, id } = transition;
  return {
    ...begin("now", nowMs),
    type: transitionType(transition),
    entity,
    id,
    ...(state !== null && "release" in state && {
      currency: state.currency,
      currencyAmount: state.currencyAmount,
      commodity: state.commodity,
      cryptoAmount: state.cryptoAmount,
      detail: transition.trust === "confirmed"
        ? `release: ${state.release}`
        : null,
    }),
  };
}

/** A webhook that was sent on, or could not be. */
export function forwardedActivity(
  sent: Partial<Activity>,
  nowMs: number,
): Activity {
  return { ...begin("out", nowMs), ...sent };
}
