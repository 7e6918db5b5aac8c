/** Explains an order: one fold over its facts, with a note of each step. */
import { jsonBytes } from "../../core/bytes.ts";
import { compareDecimals, isDecimal } from "../../core/decimal.ts";
import { emptyToNull } from "../events/fact_text.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { EVENT_KINDS, type EventKind } from "../machines/event_kind.ts";
import { JoinedFacts } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import {
  decideOrderStatus,
  highestClaim,
  orderDecision,
  orderMove,
  type ResolveOptions,
} from "../orders/order_status.ts";
import { orderState } from "../states/state_of_order.ts";
import type {
  EventContent,
  ExplainedEvent,
  ExplainedMove,
  Explanation,
  FieldChange,
} from "./explanation.ts";
import { type Fields, fieldSources, flattenState } from "./field_sources.ts";
import { whyOf } from "./why.ts";

/**
 * Bytes of the events that are listed, as JSON: of webhooks, which anybody can
 * send, and of others apart. In words it is about twice as much.
 */
const LISTED_BYTES = { webhook: 1_000_000, other: 500_000 };

/** Fields that only record what was received: no decision depends on them. */
const HEARD: ReadonlySet<string> = new Set(["history", "sessions"]);

/**
 * Explains an order: what each event changed in the visible state or why it
 * changed nothing, and which event each field comes from. Of its webhooks some may
 * not have been read.
 */
export function explainOrder(
  orderId: string,
  facts: readonly Fact[],
  { unread = 0, ...options }: ResolveOptions & { readonly unread?: number } =
    {},
): Explanation {
  const left = { ...LISTED_BYTES };
  let leftOut = unread;
  let fold = initialOrderFold(orderId);
  let before: Fields = {};
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
    const isChanged = changes.some(({ field }) => !HEARD.has(field));
    const { position, eventId, label, recordedAt } = fact;
    const said = `${label} ${fact.digest}`;
    const repeated = firstOf.get(said);
    const kind = kindOf(fact);
    const event: ExplainedEvent = {
      ...{ position, eventId, kind, label, recordedAt },
      content: contentOf(fact),
      effect: isChanged
        ? "changed"
        : changes.length > 0
        ? "noted"
        : "unchanged",
      move: isExpectation(fact) ? null : moveOf(fold, next),
      changes,
      why: whyOf(fact, isChanged, {
        ...{ before: fold, after: next, repeated },
        assets: options.assets ?? "production",
      }),
    };
    const share = kind === "webhook" ? kind : "other";
    left[share] -= jsonBytes(event);
    if (left[share] >= 0) events.push(event);
    else leftOut++;
    if (repeated === undefined && fact.digest !== "") firstOf.set(said, fact);
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

/** The visible state of an order; only its session before an event names it. */
function visible(
  fold: OrderFold,
  options: ResolveOptions,
): Fields {
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

/** The move between two folds; null where status, trust and latest reading stay. */
function moveOf(before: OrderFold, after: OrderFold): ExplainedMove | null {
  const from = before.activity.firstAt === null
    ? null
    : decideOrderStatus(before);
  const to = decideOrderStatus(after);
  const read = after.latest?.status ?? null;
  const earlier = before.latest?.status ?? null;
  const reading = earlier === null || read === null || earlier === read
    ? null
    : { from: earlier, to: read, ...orderMove(earlier, read) };
  return reading === null && from?.status === to.status &&
      from.trust === to.trust
    ? null
    : { from, to, decision: orderDecision(read, highestClaim(after)), reading };
}

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
