/** Explains an order: one fold over its facts, with a note of each step. */
import type { Verdict, WitnessRule } from "../../core/chain/verdict.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import type { OrderContext } from "../attention/attention.ts";
import {
  type ActivityLabel,
  type ExpectationFact,
  type Fact,
  isExpectation,
  type OrderSnapshotFact,
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
  type Decision,
  EVENT_KINDS,
  type EventKind,
  type Move,
} from "../machines/machine.ts";
import {
  type ClaimedStatus,
  isFinal,
  isKnown,
  type OrderMoveAnomaly,
  orderRank,
} from "../machines/order_machine.ts";
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
import { type OrderState, orderState } from "../states/order_state.ts";
import { jsonBytes } from "../../core/bytes.ts";
import { compareDecimals, isDecimal } from "../../core/decimal.ts";
import { expectationWindow, JoinedFacts } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import type { OrderReading } from "../events/readings.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
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

/** What an event says. */
export type EventContent =
  | {
    readonly code: "webhook";
    readonly label: ActivityLabel;
    /** The status that it claims; null when it claims none. */
    readonly claimed: ClaimedStatus | null;
    /** False when it claims a status and its fields are erased or unreadable. */
    readonly hasBody: boolean;
  }
  | {
    readonly code: "reading";
    /** The status that it shows; null when none can be read. */
    readonly status: Status | null;
    /** Effective time of the last change, UTC ISO 8601. */
    readonly changedAt: string | null;
    /** Effective time of the reading, UTC ISO 8601. */
    readonly readAt: string;
  }
  | {
    readonly code: "absence";
    /** Effective time of the question, UTC ISO 8601. */
    readonly readAt: string;
  }
  | {
    readonly code: "contradiction";
    readonly claimed: Status;
    /** Claims received until then are contradicted. */
    readonly upTo: string;
  }
  | {
    readonly code: "chain";
    /** What the nodes showed. */
    readonly verdict: Verdict;
    /** Whether it had the confirmations that the partner asks for. */
    readonly final: boolean;
    /** Effective time of the look, UTC ISO 8601. */
    readonly readAt: string;
  }
  | { readonly code: "requirement"; readonly rule: WitnessRule }
  | { readonly code: "session"; readonly sessionId: string }
  /** A person delivered or refunded it. */
  | {
    readonly code: "by_hand";
    readonly outcome: HandOutcome;
    readonly reference: string | null;
    /** Who did it. */
    readonly by: string | null;
    readonly why: string | null;
  }
  | { readonly code: "unreadable" | "other"; readonly label: ActivityLabel };

/** The reason for the effect of an event on the state. */
export type EffectReason =
  | {
    readonly code:
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
  }
  /** The service shows the status itself; the webhook adds to what is known. */
  | { readonly code: "already_confirmed"; readonly read: Status }
  /** The same bytes were received before, at this position. */
  | { readonly code: "repeated"; readonly position: number }
  /** The body says nothing; `names_order_unreadably`: but it names the order. */
  | {
    readonly code: "unreadable" | "names_order_unreadably";
    readonly reason: UnreadableReason;
  }
  /** The service showed the claimed status before, and shows another now. */
  | {
    readonly code: "claim_used_up";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** The service was asked and did not agree with the claim. */
  | { readonly code: "claim_contradicted"; readonly claimed: Status }
  /** Another claim ranks higher. */
  | {
    readonly code: "higher_claim";
    readonly claimed: Status;
    readonly higher: Status;
  }
  /** No webhook changes what the service shows. */
  | {
    readonly code: "reading_is_final" | "reading_unrecognised";
    readonly read: Status;
  }
  /** The service shows a status of at least the same rank. */
  | {
    readonly code: "reading_ranks_above" | "reading_ranks_equal";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** A later state of the service is known. */
  | {
    readonly code: "later_state_known";
    /** When that state was reached; null when the service does not say. */
    readonly changedAt: string | null;
  };

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
  const state = orderState(fold, options);
  const fields = fieldSources(state, fold, facts, options);
  return { orderId, state, events, leftOut, fields };
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

/** What people see of a state, by dotted name. */
type Fields = Readonly<Record<string, FieldValue>>;

/** Fields that webhooks state, by their names in what is explained. */
const CLAIMED: ReadonlyMap<string, ClaimField> = new Map([
  ...CLAIM_FIELDS.map((field): [string, ClaimField] => [field, field]),
  ["smartContract.address", "scAddress"],
  ["smartContract.inputData", "scInputData"],
]);

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
  const reading = own.find((fact) =>
    fact.kind === "order_snapshot" && fact.digest === latest?.digest &&
    fact.reading.readAt === latest.readAt
  );
  const terms = facts.filter(isExpectation).find(({ expectation }) =>
    expectation.id === expected?.id &&
    expectation.recordedAt === expected.recordedAt
  );
  const sourceOf = (
    field: string,
  ): readonly [ExplainedField["source"], Fact | undefined] => {
    if (field.startsWith("expected.")) return ["session", terms];
    const isStatus = field === "status";
    const claimed = CLAIMED.get(field);
    const isRead = isStatus
      ? state.trust === "confirmed"
      : latest && (claimed === undefined ||
        latest[claimed as keyof OrderReading]);
    if (isRead) return ["snapshot", reading];
    const digest = claimed && claimedBody(claims, claimed)?.digest;
    return [
      "webhook",
      own.find((fact) =>
        fact.kind === "webhook" &&
        (isStatus
          ? fact.claim === state.status
          : fact.claim !== null && fact.digest === digest)
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
const hidden: ReadonlySet<string> = new Set([
  "orderId",
  "reason",
  "claimed",
  "confirmed",
  "releaseReason",
  "booked",
  "facts",
  "byHand.settled",
]);

/** Fields of the state that people look at, by dotted name. */
export function flattenState(state: OrderState): Fields {
  // Until somebody says a status there is none, whatever stands in its place.
  const isUnsaid = state.claimed === null && state.confirmed === null;
  const flat = Object.entries(state).flatMap(
    ([field, value]): (readonly [string, FieldValue])[] => {
      if (hidden.has(field) || value === null) return [];
      if (isUnsaid && (field === "status" || field === "trust")) return [];
      if (field === "transferSeen" && value === false) return [];
      if (field === "anomalies") {
        return state.anomalies.map((one) => [
          `anomalies.${one.kind}${
            one.field === undefined ? "" : `.${one.field}`
          }`,
          one,
        ]);
      }
      if (field === "history") {
        const said = state.history.map((one) => `${one.source} ${one.status}`);
        return [[field, said.join(", ")]];
      }
      if (Array.isArray(value)) return [[field, value.join(", ")]];
      if (typeof value !== "object") return [[field, String(value)]];
      return Object.entries(value).flatMap(([inner, of]) => {
        const name = `${field}.${inner}`;
        return of === null || hidden.has(name) ? [] : [[name, String(of)]];
      });
    },
  );
  return Object.fromEntries(flat.filter(([, value]) => value !== ""));
}

interface Step {
  readonly before: OrderFold;
  readonly after: OrderFold;
  /** An earlier event that said the same. */
  readonly repeated: Fact | undefined;
  readonly assets: AssetTable;
}

/** The codes of reasons that need no data. */
type CodeOf<Reason> = Reason extends { readonly code: infer Code }
  ? keyof Reason extends "code" ? Code : never
  : never;
type Code = CodeOf<EffectReason>;

/** Why a fact of a kind changes the order, and why it does not. */
const BY_KIND: Readonly<
  Partial<Record<Fact["kind"], readonly [changed: Code, unchanged: Code]>>
> = {
  order_absent: ["absence", "shown_since"],
  order_contradicted: ["contradiction", "no_claim_to_contradict"],
  chain_reading: ["looked", "look_does_not_count"],
  witness_required: ["required", "not_of_order"],
  order_released: ["person", "person_noted"],
};

function whyOf(
  fact: Fact,
  isChanged: boolean,
  step: Step,
): EffectReason {
  switch (fact.kind) {
    case "webhook":
      return webhookWhy(step, fact, isChanged);
    case "unreadable": {
      const code = isChanged ? "names_order_unreadably" : "unreadable";
      return { code, reason: fact.reason };
    }
    case "order_snapshot":
      return isChanged ? { code: "reading" } : readingWhy(step, fact);
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
  { after: order, assets }: Step,
  { expectation }: ExpectationFact,
): Code {
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

function readingWhy(
  { before, after: { latest } }: Step,
  { reading }: OrderSnapshotFact,
): EffectReason {
  if (reading.status === "") return { code: "reading_without_status" };
  return latest !== reading && latest === before.latest
    ? { code: "later_state_known", changedAt: latest?.changedAt || null }
    : { code: "reading_unchanged" };
}

function webhookWhy(
  { after, repeated }: Step,
  fact: WebhookFact,
  isChanged: boolean,
): EffectReason {
  if (!isChanged && repeated !== undefined) {
    return { code: "repeated", position: repeated.position };
  }
  const { status, trust } = decideOrderStatus(after);
  const isClaimed = trust === "claimed";
  const claim = after.claims.find(({ status }) => status === fact.claim);
  if (claim !== undefined && claim.status !== status) {
    const claimed = claim.status;
    const state = claimState(after, claim);
    if (state === "observed") {
      return { code: "claim_used_up", claimed, read: status };
    }
    if (state === "contradicted") {
      return { code: "claim_contradicted", claimed };
    }
    if (isClaimed) return { code: "higher_claim", claimed, higher: status };
    if (isFinal(status)) return { code: "reading_is_final", read: status };
    if (!isKnown(status)) return { code: "reading_unrecognised", read: status };
    const isAbove = orderRank(status) > orderRank(claimed);
    const code = isAbove ? "reading_ranks_above" : "reading_ranks_equal";
    return { code, claimed, read: status };
  }
  if (!isChanged) return { code: isClaimed ? "claimed_before" : "read_before" };
  return isClaimed
    ? { code: "claim_counts" }
    : { code: "already_confirmed", read: status };
}
