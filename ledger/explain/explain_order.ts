import { foldOrder } from "./as_of.ts";
import {
  type ExplainedEvent,
  explainMove,
  type Explanation,
  type FieldChange,
  type FieldValue,
} from "./explanation.ts";
import type { EventContent } from "./effect.ts";
import { emptyToNull } from "../events/fact_text.ts";
import { fieldSources, flattenState } from "./field_sources.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { explainEvent } from "./_explain_event.ts";
import { JoinedFacts } from "../orders/joined_facts.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { jsonBytes } from "../../core/bytes.ts";
import type { OrderState } from "../states/order_state.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import { orderState } from "../states/state_of_order.ts";
import { compareDecimals, isDecimal } from "../../core/decimal.ts";
import { EVENT_KINDS, type EventKind } from "../machines/event_kind.ts";

/** How to explain an order. */
interface ExplainOptions extends ResolveOptions {
  /** Webhooks of the order that were not read. @default {0} */
  readonly unread?: number;
}

/**
 * Bytes of the events that are listed, as JSON: of webhooks, which anybody can
 * send, and of others apart. In words it is about twice as much.
 */
const LISTED_BYTES = { webhook: 1_000_000, other: 500_000 };

/**
 * Explains an order: what each event changed in the visible state or why it
 * changed nothing, and which event each field comes from.
 */
export function explainOrder(
  orderId: string,
  facts: readonly Fact[],
  { unread = 0, ...options }: ExplainOptions = {},
): Explanation {
  const left = { ...LISTED_BYTES };
  let leftOut = unread;
  let fold = initialOrderFold(orderId);
  let before: Readonly<Record<string, FieldValue>> = {};
  const firstOf = new Map<string, Fact>();
  const events: ExplainedEvent[] = [];
  const joined = new JoinedFacts();
  for (const fact of facts) {
    joined.add(fact);
    const next = joined.join(evolveOrder(fold, fact));
    if (next === fold && !isExpectation(fact) && fact.orderId !== orderId) {
      continue;
    }
    const after = visible(next, options);
    const changes = fieldChanges(before, after);
    const { position, eventId, label, recordedAt } = fact;
    const said = `${label} ${fact.digest}`;
    const repeated = firstOf.get(said);
    const { effect, why } = explainEvent({
      ...{ before: fold, after: next, fact, changes, repeated },
      assets: options.assets ?? "production",
    });
    const event: ExplainedEvent = {
      ...{ position, eventId, kind: kindOf(fact), label, recordedAt },
      content: contentOf(fact),
      effect,
      move: explainMove(fold, next, fact),
      changes,
      why,
    };
    const share = event.kind === "webhook" ? "webhook" : "other";
    left[share] -= jsonBytes(event);
    if (left[share] >= 0) events.push(event);
    else leftOut++;
    if (repeated === undefined && fact.digest !== "") {
      firstOf.set(said, fact);
    }
    fold = next;
    before = after;
  }
  return {
    orderId,
    state: orderState(fold, options),
    events,
    leftOut,
    fields: fieldSources(fold, facts, options),
  };
}

/** The state of an order as it was known at a time; null when nothing was. */
export function orderAsOf(
  orderId: string,
  facts: readonly Fact[],
  time: string,
  options: ResolveOptions = {},
): OrderState | null {
  const fold = foldOrder(orderId, facts, time);
  return fold.activity.firstAt === null ? null : orderState(fold, options);
}

/** The visible state of an order; only its session before an event names it. */
function visible(
  fold: OrderFold,
  options: ResolveOptions,
): Readonly<Record<string, FieldValue>> {
  const flat = flattenState(orderState(fold, options));
  if (fold.activity.firstAt !== null) return flat;
  return Object.fromEntries(
    Object.entries(flat).filter(([field]) => field.startsWith("expected.")),
  );
}

function kindOf({ kind, label }: Fact): EventKind {
  if (kind !== "unreadable") return kind;
  return label in EVENT_KINDS ? label as EventKind : "webhook";
}

function contentOf(fact: Fact): EventContent {
  switch (fact.kind) {
    case "webhook":
      return {
        code: "webhook",
        label: fact.label,
        claimed: fact.claim,
        hasBody: !fact.erased && (fact.claim === null || fact.body !== null),
      };
    case "order_snapshot":
      return {
        code: "reading",
        status: emptyToNull(fact.reading.status),
        changedAt: emptyToNull(fact.reading.changedAt),
        readAt: fact.reading.readAt,
      };
    case "order_absent":
      return { code: "absence", readAt: fact.readAt };
    case "order_contradicted":
      return { code: "contradiction", claimed: fact.status, upTo: fact.upTo };
    case "chain_reading": {
      const { verdict, final, readAt } = fact.look;
      return { code: "chain", verdict, final, readAt };
    }
    case "witness_required":
      return { code: "requirement", rule: fact.change.rule };
    case "session_created":
    case "order_expected":
      return { code: "session", sessionId: fact.expectation.id };
    case "order_released": {
      const { by, why, hand: { outcome, purchase } } = fact;
      const reference = purchase?.name ?? null;
      return { code: "by_hand", outcome, reference, by, why };
    }
    case "unreadable":
      return { code: "unreadable", label: fact.label };
    default:
      return { code: "other", label: fact.label };
  }
}

type Fields = Readonly<Record<string, FieldValue>>;

/** Fields that are amounts of money or assets, or shares of them. */
const AMOUNT = /(Amount|Fee|Percent)$/;

/** The fields in which two visible states differ, with both values. */
export function fieldChanges(before: Fields, after: Fields): FieldChange[] {
  return Object.keys({ ...before, ...after }).map((field) => ({
    field,
    before: before[field] ?? null,
    after: after[field] ?? null,
  })).filter((change) => !isSame(change));
}

/** An amount that is written with another number of zeros is the same one. */
function isSame({ field, before: a, after: b }: FieldChange): boolean {
  if (a === b) return true;
  if (typeof a === "object" && typeof b === "object") {
    return JSON.stringify(a) === JSON.stringify(b);
  }
  return AMOUNT.test(field) && typeof a === "string" && typeof b === "string" &&
    isDecimal(a) && isDecimal(b) && compareDecimals(a, b) === 0;
}
