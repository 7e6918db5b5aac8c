import {
  askedAtOf,
  type ChainReading,
  detailsBy,
  emptyToNull,
  type Expectation,
  type ExpectationTerms,
  factsBy,
  feesBy,
  type OrderDetails,
  type OrderFacts,
  type OrderFees,
} from "../events/event.ts";
import { type Anomaly, orderAnomalies } from "../anomalies/anomaly.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
  type Booked,
  type Outcome,
  type OutcomeCode,
  outcomeOf,
  type Release,
  type ReleaseReason,
  type StoredFacts,
} from "../outcomes/outcome_table.ts";
import {
  type ByHand,
  byHandOf,
  factsOfOrder,
  matchExpectations,
  settle,
  type Uncompared,
} from "../outcomes/match.ts";
import {
  type Status,
  transitionKey,
  type Trust,
} from "../machines/transition.ts";
import { isFinal, isKnown, orderRank } from "../machines/machine.ts";
import {
  claimedValue,
  claimState,
  contestingClaims,
  type DecidedStatus,
  highestClaim,
  readingFacts,
  type ResolveOptions,
  resolveOrder,
  type StatusFacts,
  visibleReading,
} from "../orders/order_status.ts";
import type { OrderFieldName } from "../../core/wire/fields.ts";
import { expectationWindow } from "../orders/expectations.ts";
import { countingLook, type OrderFold } from "../orders/order_fold.ts";

/** A chain reading, as readers see it. */
export type WitnessState = Omit<
  ChainReading,
  | "digest"
  | "network"
  | "asset"
  | "type"
  | "txId"
  | "address"
  | "inputData"
  | "erased"
>;

/**
 * The state of an order by the facts known so far. A pure function of the set
 * of events: it holds no counts, no receipt ids, no positions.
 */
export interface OrderState extends OrderFacts, OrderDetails {
  /** Order identifier. */
  readonly orderId: string;
  /** Status by the rules of the ledger. */
  readonly status: Status;
  /** Whether `status` is confirmed by the service. */
  readonly trust: Trust;
  /** The reason for the status. */
  readonly reason: OrderReason;
  /** Its outcome: code of the first row that applies to `facts`. */
  readonly outcome: OutcomeCode;
  /**
   * Whether the goods may be released, by that row. No webhook changes it once
   * the service has shown the order.
   */
  readonly release: Release;
  /** Why. */
  readonly releaseReason: ReleaseReason;
  /** What a month books of it. */
  readonly booked: Booked;
  /**
   * Why a person has to look, the gravest first. Reasons that depend on the
   * time or on another order are not among them, nor those that a person has
   * settled.
   */
  readonly attention: readonly AttentionKind[];
  /**
   * What a person recorded of it and has not taken back; null where nothing
   * stands. While something does, the release is `settled` unless it is `no`.
   */
  readonly byHand: ByHand | null;
  /**
   * What the partner's chain nodes show of the transaction: the look that
   * counts; null where nobody looked at what the service shows now.
   */
  readonly witness: WitnessState | null;
  /** The facts that decide the outcome, one word each. */
  readonly facts: StoredFacts;
  /**
   * Creation time as the service states it, UTC ISO 8601. One later than the
   * reading that shows it is an anomaly, and nothing is decided by it.
   */
  readonly createdAt: string | null;
  /** Last change as the service states it, UTC ISO 8601; likewise. */
  readonly changedAt: string | null;
  /** What was charged. */
  readonly fees: OrderFees;
  /** Input data and address of a smart-contract order. */
  readonly smartContract: {
    readonly address: string | null;
    readonly inputData: string | null;
  };
  /** Whether a webhook said that the transfer has begun. */
  readonly transferSeen: boolean;
  /** Distinct (source, status) pairs seen, sorted. */
  readonly history: readonly {
    readonly source: "webhook" | "snapshot";
    readonly status: Status;
  }[];
  /** What webhooks say, chosen field by field; null when none came. */
  readonly claimed: (OrderFacts & { readonly status: Status }) | null;
  /** What the latest snapshot says; null when there is none. */
  readonly confirmed: (OrderFacts & { readonly status: Status }) | null;
  /** Widget sessions this order was seen in, sorted. */
  readonly sessions: readonly string[];
  /**
   * What the partner expects of the order: the one that matched, else the last
   * one that was recorded before the order under the click id which the service
   * shows. Null when none was, or too many to choose one.
   */
  readonly expected: ExpectationTerms | null;
  /** Whether that was asked for after the order had begun. */
  readonly expectedChanged: boolean;
  /** What of it could not be compared, and who left it out. */
  readonly uncompared: readonly Uncompared[];
  /** What is odd about this order, sorted by kind. */
  readonly anomalies: readonly Anomaly[];
}

/**
 * Why the status of an order is what it is. `read` is the status of the latest
 * reading, `claimed` what webhooks claim.
 */
export type OrderReason =
  /** The latest reading shows a final status. */
  | { readonly code: "reading_is_final"; readonly read: Status }
  /** The latest reading stands, because no webhook claims more. */
  | { readonly code: "reading_stands"; readonly read: Status }
  /** The latest reading shows a status that this version does not know. */
  | { readonly code: "reading_unrecognised"; readonly read: Status }
  /** The service shows the order without a status that can be read. */
  | {
    readonly code: "reading_without_status";
    /** The claim that counts; null when none does. */
    readonly claimed: Status | null;
  }
  /** The latest reading is final, and webhooks claim other final statuses. */
  | {
    readonly code: "final_reading_contested";
    readonly read: Status;
    readonly contesting: readonly Status[];
  }
  /** The service did not agree with higher claims. */
  | {
    readonly code: "higher_claims_contradicted";
    readonly read: Status;
    readonly contradicted: readonly Status[];
  }
  /** A webhook claims a higher status than that of the latest reading. */
  | {
    readonly code: "claim_ahead_of_reading";
    readonly claimed: Status;
    readonly read: Status;
  }
  /** A webhook claims the status, and the service was not read yet. */
  | { readonly code: "claim_not_read"; readonly claimed: Status }
  /** A webhook claims the status, and the service has no such order. */
  | { readonly code: "claim_of_absent_order"; readonly claimed: Status }
  /** The service agreed with no claim, and has shown no such order. */
  | {
    readonly code: "all_claims_contradicted";
    readonly contradicted: readonly Status[];
  }
  /** No webhook claims a status, and the service was not read yet. */
  | { readonly code: "nothing_claimed_or_read" }
  /** No webhook claims a status, and the service has no such order. */
  | { readonly code: "nothing_claimed_of_absent_order" };

export function orderReason(
  facts: StatusFacts & Partial<Pick<OrderFold, "statusless" | "absentAt">>,
  { status, trust }: DecidedStatus,
): OrderReason {
  const read = facts.latest?.status ?? null;
  if (read === null) {
    const claimed = highestClaim(facts);
    if (facts.statusless) return { code: "reading_without_status", claimed };
    const { absentAt } = facts;
    if (claimed !== null) {
      const code = absentAt ? "claim_of_absent_order" : "claim_not_read";
      return { code, claimed };
    }
    const contradicted = facts.claims.map(({ status }) => status);
    if (contradicted.length > 0) {
      return { code: "all_claims_contradicted", contradicted };
    }
    const code = absentAt
      ? "nothing_claimed_of_absent_order"
      : "nothing_claimed_or_read";
    return { code };
  }
  if (trust === "claimed") {
    return { code: "claim_ahead_of_reading", claimed: status, read };
  }
  if (!isKnown(read)) return { code: "reading_unrecognised", read };
  const contesting = contestingClaims(facts);
  if (contesting.length > 0) {
    return { code: "final_reading_contested", read, contesting };
  }
  const contradicted = facts.claims.filter((claim) =>
    claimState(facts, claim) === "contradicted" &&
    orderRank(claim.status) > orderRank(read)
  ).map(({ status }) => status);
  if (contradicted.length > 0) {
    return { code: "higher_claims_contradicted", read, contradicted };
  }
  return { code: isFinal(read) ? "reading_is_final" : "reading_stands", read };
}

export function orderState(
  fold: OrderFold,
  options: ResolveOptions = {},
): OrderState {
  const resolved = resolveOrder(fold, options);
  const { fields, claims, decided, assets } = resolved;
  const { match, expected, uncompared } = matchExpectations(fold, assets);
  const facts = factsOfOrder(fold, match);
  const byRow = outcomeOf(facts);
  const byHand = byHandOf(fold, facts, byRow);
  const latest = visibleReading(fold);
  const stated = (field: OrderFieldName) =>
    emptyToNull(latest?.[field] ?? null);
  return {
    ...fields,
    orderId: fold.orderId,
    status: decided.status,
    trust: decided.trust,
    reason: orderReason(fold, decided),
    ...statedOutcome(settle(byRow, facts, byHand)),
    byHand,
    witness: witnessOf(countingLook(fold)),
    facts,
    createdAt: latest?.statedCreatedAt ?? (latest?.createdAt || null),
    changedAt: (latest?.statedChangedAt ?? latest?.changedAt) || null,
    ...detailsBy(stated),
    fees: feesBy(stated),
    smartContract: {
      address: claimedValue(claims, "scAddress"),
      inputData: stated("scInputData") ??
        claimedValue(claims, "scInputData"),
    },
    transferSeen: fold.transferSeen,
    history: [
      ...saidBy("snapshot", fold.observedStatuses),
      ...saidBy("webhook", fold.claims),
    ],
    claimed: claims[0] === undefined ? null : {
      ...factsBy((field) =>
        field === "network" ? null : claimedValue(claims, field)
      ),
      status: claims[0].status,
    },
    confirmed: fold.latest === null
      ? null
      : { ...readingFacts(fold.latest), status: fold.latest.status },
    sessions: fold.sessions.map(({ sessionId }) => sessionId).sort(),
    expected: expected === null ? null : termsOf(expected),
    expectedChanged: expected !== null &&
      askedAtOf(expected) > (expectationWindow(fold)?.until ?? "~"),
    uncompared,
    anomalies: orderAnomalies(fold, resolved, expected),
  };
}

function saidBy<Source extends string>(
  source: Source,
  all: readonly { readonly status: Status }[],
) {
  return all.map(({ status }) => ({ source, status }));
}

function statedOutcome(
  { code: outcome, release, reason: releaseReason, booked, attention }: Outcome,
) {
  return { outcome, release, releaseReason, booked, attention };
}

/** What was expected, without when it was recorded and how long it is valid. */
function termsOf(
  { recordedAt: _, askedAt: _asked, validForMs: _valid, ...terms }: Expectation,
): ExpectationTerms {
  return terms;
}

/** What a look says that the order does not say itself. */
function witnessOf(look: ChainReading | null): WitnessState | null {
  if (look === null) return null;
  const { digest: _d, txId: _t, address: _a, network: _n, ...said } = look;
  const { erased: _e, asset: _s, type: _y, inputData: _i, ...rest } = said;
  return rest;
}

/**
 * How long an order may be paid and not delivered, and a success not seen on the
 * chain, until it is overdue, in milliseconds.
 */
export const OVERDUE_AFTER_MS = {
  stuck: 3_600_000,
  witness_missing: 86_400_000,
};

/** What is known of an order besides its state. */
export interface OrderContext {
  /**
   * Whether an expectation was ever recorded in this ledger. Without any, no
   * order can be compared, which is reported once for the ledger and not for
   * each order.
   */
  readonly compares: boolean;
  /** Whether another order holds the reference of this one. */
  readonly twice: boolean;
  /**
   * Key of its last release transition if neither handlers nor targets received
   * it; else null.
   */
  readonly withheld: string | null;
}

/** An order, and what is known besides its state. */
export type OrderInContext = OrderState & {
  /** @default {a ledger that compares, and no other order} */
  readonly context?: OrderContext;
};

/**
 * Outcome of an order now: the state holds the same without what time and other
 * orders make of it. What a person has settled is not among its reasons to
 * wait.
 */
export function outcomeNow(order: OrderInContext, nowMs: number): Outcome {
  const { facts, context, byHand } = order;
  const outcome = outcomeOf({
    ...facts,
    overdue: isOverdue(order, nowMs) ? "yes" : "no",
    twice: context?.twice === true && facts.match === "matched" ? "yes" : "no",
  });
  const attention = ATTENTION_KINDS.filter((kind) =>
    kind === "yes_withheld"
      ? typeof context?.withheld === "string"
      : outcome.attention.includes(kind) &&
        (kind !== "not_comparable" || context?.compares !== false)
  );
  return settle({ ...outcome, attention }, facts, byHand);
}

/** What a row tells of an order besides its state. */
export interface Beside {
  readonly twice: boolean;
  /** What its release entered, and which time, where nobody was told of it. */
  readonly withheld?: readonly [status: string, entry: number] | undefined;
}

/**
 * An order as readers see it: one whose purchase another order holds waits. The stored
 * state ignores other orders.
 */
export function orderOf<Order extends OrderState>(
  order: Order,
  compares: boolean,
  { twice, withheld }: Beside,
): Order & { readonly context: OrderContext } {
  const context = {
    ...{ compares, twice },
    withheld: withheld === undefined ? null : transitionKey({
      ...{ entity: "order", machine: "release", id: order.orderId },
      ...{ trust: "release", status: withheld[0], entry: withheld[1] },
    }),
  };
  if (!twice || order.facts.match !== "matched") return { ...order, context };
  const { facts, byHand } = order;
  const outcome = settle(outcomeOf({ ...facts, twice: "yes" }), facts, byHand);
  return { ...order, ...statedOutcome(outcome), context };
}

export function attentionOf(
  order: OrderInContext,
  nowMs: number,
): readonly AttentionKind[] {
  return outcomeNow(order, nowMs).attention;
}

function isOverdue(order: OrderState, nowMs: number): boolean {
  const { changedAt, facts } = order;
  if (changedAt === null) return false;
  const ageMs = nowMs - Date.parse(changedAt);
  if (isPaid(order)) return ageMs >= OVERDUE_AFTER_MS.stuck;
  return facts.shown === "success" && facts.required === "yes" &&
    ageMs >= OVERDUE_AFTER_MS.witness_missing;
}

/** Whether it is paid, as confirmed by the service, and not delivered. */
export function isPaid({ confirmed, transferSeen }: OrderState): boolean {
  return confirmed?.status === "pending" ||
    (confirmed?.status === "progress" && transferSeen);
}
