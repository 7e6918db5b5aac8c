/** Explains an order: one fold over its facts, with a note of each step. */
import type { Verdict, WitnessRule } from "../../core/chain/verdict.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import {
  type OrderContext,
  type OrderState,
  orderState,
} from "../states/order_state.ts";
import {
  type ActivityLabel,
  type ExpectationFact,
  type Fact,
  isExpectation,
  type UnreadableReason,
  type WebhookFact,
} from "../events/fact.ts";
import {
  askedAtOf,
  CLAIM_FIELDS,
  type ClaimField,
  emptyToNull,
  type HandOutcome,
  validUntil,
} from "../events/event.ts";
import {
  type ClaimedStatus,
  type Decision,
  EVENT_KINDS,
  type EventKind,
  isFinal,
  isKnown,
  type Move,
  type OrderMoveAnomaly,
  orderRank,
} from "../machines/machine.ts";
import type { Status } from "../machines/transition.ts";
import {
  claimedBody,
  claimState,
  type DecidedStatus,
  decideOrderStatus,
  highestClaim,
  orderDecision,
  orderMove,
  type ResolveOptions,
  resolveOrder,
  visibleReading,
} from "../orders/order_status.ts";
import { jsonBytes } from "../../core/bytes.ts";
import { expectationWindow, JoinedFacts } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
  sameAmount,
} from "../orders/order_fold.ts";
import type { OrderReading } from "../events/readings.ts";
import { matchExpectations } from "../outcomes/match.ts";

/** Why the state of an order is what it is, event by event. */
export interface Explanation {
  /** Order identifier. */
  readonly orderId: string;
  /** The state that the events lead to. */
  readonly state: OrderState;
  /**
   * What was known besides the state.
   *
   * @default {a ledger that compares, and no other order}
   */
  readonly context?: OrderContext;
  /**
   * The events of the order, by position. If there are too many, the later ones
   * are left out.
   */
  readonly events: readonly ExplainedEvent[];
  /** How many events are left out: anybody can send any number of webhooks. */
  readonly leftOut: number;
  /** Where each field of the state that has a value comes from. */
  readonly fields: readonly ExplainedField[];
}

/** What one event did to the state. */
export interface ExplainedEvent {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** What it is counted as. */
  readonly label: ActivityLabel;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** What it says. */
  readonly content: EventContent;
  /**
   * - `changed`: it changed the visible state; see `changes`.
   * - `noted`: it changed only what was heard (`history`, `sessions`), on which
   *   nothing depends: a late webhook, for example.
   * - `unchanged`: it changed nothing at all.
   */
  readonly effect: "changed" | "noted" | "unchanged";
  /**
   * The move that it made on the state machine of the order; null where status,
   * trust and latest reading stay.
   */
  readonly move: ExplainedMove | null;
  /** What changed; empty where `effect` is `unchanged`. */
  readonly changes: readonly FieldChange[];
  /** Why the effect is what it is. */
  readonly why: EffectReason;
}

/** The value of a field of the visible state: text, or an anomaly. */
export type FieldValue = string | Anomaly;

/** A change of one field of the visible state. */
export interface FieldChange {
  /** Field, dotted inside objects: `fees.partnerFee`. */
  readonly field: string;
  /** Value before; null is none. */
  readonly before: FieldValue | null;
  /** Value after; null is none. */
  readonly after: FieldValue | null;
}

/** Where a field of the state comes from. */
export interface ExplainedField {
  /** Field, dotted inside objects. */
  readonly field: string;
  /** Value. */
  readonly value: FieldValue;
  /** What kind of source it is. */
  readonly source: "snapshot" | "webhook" | "session";
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
}

/** The move that an event made on the state machine of an order. */
export interface ExplainedMove {
  /** Status and trust before; null where nothing was known of the order. */
  readonly from: DecidedStatus | null;
  /** Status and trust after. */
  readonly to: DecidedStatus;
  /** What the table says of the latest reading and the highest claim. */
  readonly decision: Decision;
  /**
   * How the latest reading follows the one before it; null unless the event
   * brought one with another status.
   */
  readonly reading:
    | (Move<OrderMoveAnomaly> & {
      /** Status of the reading before. */
      readonly from: Status;
      /** Status of the latest reading. */
      readonly to: Status;
    })
    | null;
}

/** A code, and what is known besides. */
export type Coded<Code extends string, Data = unknown> = Readonly<
  { code: Code } & Data
>;

/** What an event says. */
export type EventContent =
  | Coded<"webhook", {
    label: ActivityLabel;
    /** The status that it claims; null when it claims none. */
    claimed: ClaimedStatus | null;
    /** False when it claims a status and its fields are erased or unreadable. */
    hasBody: boolean;
  }>
  | Coded<"reading", {
    /** The status that it shows; null when none can be read. */
    status: Status | null;
    /** Effective time of the last change, UTC ISO 8601. */
    changedAt: string | null;
    /** Effective time of the reading, UTC ISO 8601. */
    readAt: string;
  }>
  | Coded<"absence", {
    /** Effective time of the question, UTC ISO 8601. */
    readAt: string;
  }>
  | Coded<"contradiction", {
    claimed: Status;
    /** Claims received until then are contradicted. */
    upTo: string;
  }>
  | Coded<"chain", {
    /** What the nodes showed. */
    verdict: Verdict;
    /** Whether it had the confirmations that the partner asks for. */
    final: boolean;
    /** Effective time of the look, UTC ISO 8601. */
    readAt: string;
  }>
  | Coded<"requirement", { rule: WitnessRule }>
  | Coded<"session", { sessionId: string }>
  /** A person delivered or refunded it. */
  | Coded<"by_hand", {
    outcome: HandOutcome;
    reference: string | null;
    /** Who did it. */
    by: string | null;
    why: string | null;
  }>
  | Coded<"unreadable" | "other", { label: ActivityLabel }>;

/** A reason that says all by its code. */
export type EffectCode =
  /** It is a reading of the service, a question, or a session. */
  | "reading"
  | "absence"
  | "contradiction"
  | "session"
  /** The partner's nodes were asked. */
  | "looked"
  /** From then on orders wait for the chain, or wait no more. */
  | "required"
  /** A later look counts, or the service shows another transaction now. */
  | "look_does_not_count"
  /** A person did it, or only noted something. */
  | "person"
  | "person_noted"
  /** It names the order. */
  | "names_order"
  /** A webhook claims the status of the order. */
  | "claim_counts"
  /** A reading at least as late shows the order. */
  | "shown_since"
  /** No claim stands that it contradicts. */
  | "no_claim_to_contradict"
  /** The session is not, or not newly, the order's own. */
  | "expectation_known"
  | "expectation_not_linked"
  | "expectation_of_other_click_id"
  | "expectation_after_order"
  | "expectation_expired"
  | "click_id_shared_by_many"
  | "order_of_other_expectation"
  /** The service has already shown this. */
  | "read_before"
  /** Another webhook claims the same. */
  | "claimed_before"
  /** A reading says nothing new. */
  | "reading_without_status"
  | "reading_unchanged"
  /** It does not concern the order. */
  | "not_of_order";

/** The reason for the effect of an event on the state. */
export type EffectReason =
  | Coded<EffectCode>
  /**
   * No webhook changes what the service shows; `already_confirmed`: it shows the
   * status itself, and the webhook adds to what is known.
   */
  | Coded<
    "already_confirmed" | "reading_is_final" | "reading_unrecognised",
    { read: Status }
  >
  /** The same bytes were received before, at this position. */
  | Coded<"repeated", { position: number }>
  /** The body says nothing; `names_order_unreadably`: but it names the order. */
  | Coded<
    "unreadable" | "names_order_unreadably",
    { reason: UnreadableReason }
  >
  /**
   * The service shows a status of at least the same rank; `claim_used_up`: it
   * showed the claimed status before, and shows another now.
   */
  | Coded<
    "claim_used_up" | "reading_ranks_above" | "reading_ranks_equal",
    { claimed: Status; read: Status }
  >
  /** The service was asked and did not agree with the claim. */
  | Coded<"claim_contradicted", { claimed: Status }>
  /** Another claim ranks higher. */
  | Coded<"higher_claim", { claimed: Status; higher: Status }>
  /** A later state of the service is known. */
  | Coded<"later_state_known", {
    /** When that state was reached; null when the service does not say. */
    changedAt: string | null;
  }>;

/**
 * Bytes of the events that are listed, as JSON: of webhooks, which anybody can
 * send, and of others apart. In words it is about twice as much.
 */
const LISTED_BYTES = { webhook: 1_000_000, other: 500_000 };

/** Fields that only record what was received: no decision depends on them. */
const HEARD: ReadonlySet<string> = new Set(["history", "sessions"]);

/**
 * Explains an order: what each event changed in the visible state or why it
 * changed nothing, and which event each field comes from.
 */
export function explainOrder(
  orderId: string,
  facts: readonly Fact[],
  options: ResolveOptions = {},
): Explanation {
  const left = { ...LISTED_BYTES };
  let leftOut = 0;
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
    const state = flattenState(orderState(next, options));
    // Before an event names the order there is its session alone.
    const after = next.activity.firstAt !== null ? state : Object.fromEntries(
      Object.entries(state).filter(([field]) => field.startsWith("expected.")),
    );
    const changes = fieldChanges(before, after);
    const isChanged = changes.some(({ field }) => !HEARD.has(field));
    const { position, eventId, label, recordedAt } = fact;
    const said = `${label} ${fact.digest}`;
    const repeated = firstOf.get(said);
    const kind = fact.kind !== "unreadable"
      ? fact.kind
      : label in EVENT_KINDS
      ? label as EventKind
      : "webhook";
    const event: ExplainedEvent = {
      ...{ position, eventId, kind, label, recordedAt },
      content: contentOf(fact),
      effect: isChanged ? "changed" : changes.length ? "noted" : "unchanged",
      move: isExpectation(fact) ? null : moveOf(fold, next),
      changes,
      why: whyOf(fact, isChanged, {
        before: fold,
        after: next,
        repeated,
        options,
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
  const state = orderState(fold, options);
  const fields = fieldSources(state, fold, facts, options);
  return { orderId, state, events, leftOut, fields };
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
  const isNew = before.activity.firstAt === null;
  const from = isNew ? null : decideOrderStatus(before);
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

/** The fields in which two visible states differ, with both values. */
export function fieldChanges(before: Fields, after: Fields): FieldChange[] {
  return Object.keys({ ...before, ...after }).map((field) => ({
    field,
    before: before[field] ?? null,
    after: after[field] ?? null,
  })).filter(({ field, before: a, after: b }) =>
    // An amount that is written with another number of zeros is the same one.
    /(Amount|Fee|Percent)$/.test(field) && typeof a === "string" &&
      typeof b === "string"
      ? !sameAmount(a, b)
      : JSON.stringify(a) !== JSON.stringify(b)
  );
}

/** What people see of a state, by dotted name. */
type Fields = Readonly<Record<string, FieldValue>>;

/** Fields that webhooks state, by their names in what is explained. */
const CLAIMED: Readonly<Record<string, ClaimField>> = {
  ...Object.fromEntries(CLAIM_FIELDS.map((field) => [field, field])),
  "smartContract.address": "scAddress",
  "smartContract.inputData": "scInputData",
};

/** Fields that no single event states: they are worked out. */
const DERIVED =
  /^(trust|outcome|release|attention|history|sessions|transferSeen|(anomalies|byHand)\b.*)$/;

/** The fields of a state that have a value and are stated by one event. */
function fieldSources(
  state: OrderState,
  fold: OrderFold,
  facts: readonly Fact[],
  options: ResolveOptions,
): ExplainedField[] {
  const { claims, assets } = resolveOrder(fold, options);
  const { expected } = matchExpectations(fold, assets);
  const latest = visibleReading(fold);
  const own = facts.filter(({ orderId }) => orderId === fold.orderId);
  const webhooks = own.filter((fact) => fact.kind === "webhook");
  const reading = own.find((fact) =>
    fact.kind === "order_snapshot" && fact.digest === latest?.digest &&
    fact.reading.readAt === latest.readAt
  );
  const terms = facts.find((fact) =>
    isExpectation(fact) && fact.expectation.id === expected?.id &&
    fact.expectation.recordedAt === expected.recordedAt
  );
  const sourceOf = (
    field: string,
  ): readonly [ExplainedField["source"], Fact | undefined] => {
    if (field.startsWith("expected.")) return ["session", terms];
    if (field === "status") {
      return state.trust === "confirmed" ? ["snapshot", reading] : [
        "webhook",
        webhooks.find(({ claim }) => claim === state.status),
      ];
    }
    const claimed = CLAIMED[field];
    if (
      latest && (claimed === undefined || latest[claimed as keyof OrderReading])
    ) {
      return ["snapshot", reading];
    }
    const body = claimed && claimedBody(claims, claimed);
    return [
      "webhook",
      webhooks.find(({ claim, digest }) =>
        claim !== null && digest === body?.digest
      ),
    ];
  };
  return Object.entries(flattenState(state)).flatMap(([field, value]) => {
    const [source, fact] = sourceOf(field);
    if (DERIVED.test(field) || fact === undefined) return [];
    const { position, eventId } = fact;
    return [{ field, value, source, position, eventId }];
  });
}

/** Fields that repeat the rest of the state. */
const HIDDEN =
  /^(orderId|reason|claimed|confirmed|releaseReason|booked|facts|byHand\.settled)\b/;

/** Fields of the state that people look at, by dotted name. */
export function flattenState(state: OrderState): Fields {
  // Until somebody says a status there is none, whatever stands in its place.
  const isUnsaid = state.claimed === null && state.confirmed === null;
  const said = {
    ...state,
    ...isUnsaid && { status: null, trust: null },
    transferSeen: state.transferSeen || null,
    history: state.history.map((one) => `${one.source} ${one.status}`),
  };
  const flat = Object.entries(said).flatMap(([field, value]) =>
    field === "anomalies"
      ? state.anomalies.map((one): [string, FieldValue] => [
        [field, one.kind, one.field].filter(Boolean).join("."),
        one,
      ])
      : typeof value !== "object" || value === null || Array.isArray(value)
      ? textOf(field, value)
      : Object.entries(value).flatMap(([inner, of]) =>
        textOf(`${field}.${inner}`, of)
      )
  );
  return Object.fromEntries(flat);
}

/** A field that has a value and is not hidden. */
function textOf(field: string, value: unknown): [string, string][] {
  const text = Array.isArray(value) ? value.join(", ") : String(value ?? "");
  return text === "" || HIDDEN.test(field) ? [] : [[field, text]];
}

/** Two folds, and an earlier event that said the same. */
interface Step {
  readonly before: OrderFold;
  readonly after: OrderFold;
  readonly repeated: Fact | undefined;
  readonly options: ResolveOptions;
}

/** Why a fact of a kind changes the order, and why it does not. */
const BY_KIND: Readonly<
  Partial<
    Record<Fact["kind"], readonly [changed: EffectCode, unchanged: EffectCode]>
  >
> = {
  order_absent: ["absence", "shown_since"],
  order_contradicted: ["contradiction", "no_claim_to_contradict"],
  chain_reading: ["looked", "look_does_not_count"],
  witness_required: ["required", "not_of_order"],
  order_released: ["person", "person_noted"],
};

function whyOf(fact: Fact, isChanged: boolean, step: Step): EffectReason {
  switch (fact.kind) {
    case "webhook":
      return webhookWhy(step, fact, isChanged);
    case "unreadable": {
      const code = isChanged ? "names_order_unreadably" : "unreadable";
      return { code, reason: fact.reason };
    }
    case "order_snapshot": {
      if (isChanged) return { code: "reading" };
      if (fact.reading.status === "") return { code: "reading_without_status" };
      const { latest } = step.after;
      return latest !== fact.reading && latest === step.before.latest
        ? { code: "later_state_known", changedAt: latest?.changedAt || null }
        : { code: "reading_unchanged" };
    }
    case "session_created":
    case "order_expected":
      return { code: isChanged ? "session" : expectationWhy(step, fact) };
    default: {
      const [changed, unchanged] = BY_KIND[fact.kind] ??
        ["names_order", "not_of_order"];
      return { code: isChanged ? changed : unchanged };
    }
  }
}

function expectationWhy(
  { after: order, options: { assets = "production" } }: Step,
  { expectation }: ExpectationFact,
): EffectCode {
  const { match, expected } = matchExpectations(order, assets);
  if (expected?.id === expectation.id) return "expectation_known";
  const window = expectationWindow(order);
  if (window === null) return "expectation_not_linked";
  if (window.clickId !== expectation.clickId) {
    return "expectation_of_other_click_id";
  }
  if (askedAtOf(expectation) > window.until) return "expectation_after_order";
  if (validUntil(expectation) < window.from) return "expectation_expired";
  return match === "several" && expected === null
    ? "click_id_shared_by_many"
    : "order_of_other_expectation";
}

function webhookWhy(
  { after, repeated }: Step,
  fact: WebhookFact,
  isChanged: boolean,
): EffectReason {
  if (!isChanged && repeated !== undefined) {
    return { code: "repeated", position: repeated.position };
  }
  const { status: read, trust } = decideOrderStatus(after);
  const isClaimed = trust === "claimed";
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim === undefined || claim.status === read) {
    if (isClaimed) {
      return { code: isChanged ? "claim_counts" : "claimed_before" };
    }
    return isChanged
      ? { code: "already_confirmed", read }
      : { code: "read_before" };
  }
  const claimed = claim.status;
  const state = claimState(after, claim);
  if (state === "observed") return { code: "claim_used_up", claimed, read };
  if (state === "contradicted") return { code: "claim_contradicted", claimed };
  if (isClaimed) return { code: "higher_claim", claimed, higher: read };
  if (isFinal(read)) return { code: "reading_is_final", read };
  if (!isKnown(read)) return { code: "reading_unrecognised", read };
  const isAbove = orderRank(read) > orderRank(claimed);
  const code = isAbove ? "reading_ranks_above" : "reading_ranks_equal";
  return { code, claimed, read };
}
