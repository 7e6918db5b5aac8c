// @ts-types="@types/big.js"
import Big from "big.js";
import type { AssetTable } from "../../core/assets/environment.ts";
import { isVisible } from "../../core/chain/canonical.ts";
import {
  askedAtOf,
  type ChainReading,
  type Expectation,
  factsBy,
  type MatchFact,
  type OrderFacts,
  type StandingOutcome,
  standingOutcome,
} from "../events/event.ts";
import { compareTimes } from "../events/time.ts";
import {
  type OrderReading,
  statedTransactionForm,
} from "../events/readings.ts";
import {
  assetPrecision,
  countingLook,
  type OrderFold,
  sameAmount,
  sameValue,
} from "../orders/order_fold.ts";
import {
  claimState,
  highestClaim,
  otherFinals,
} from "../orders/order_status.ts";
import {
  beganBy,
  CANDIDATES_COMPARED,
  candidatesOf,
  termsOf,
} from "../orders/expectations.ts";
import {
  type FieldsWith,
  fieldsWith,
  ORDER_FIELDS,
} from "../../core/wire/fields.ts";
import { isFinal, isKnown, orderRank } from "../machines/machine.ts";
import {
  ATTENTION_KINDS,
  type AttentionKind,
  type ChainFact,
  type CodeFact,
  type Outcome,
  type OutcomeFacts,
  type ShownFact,
  type StoredFacts,
} from "./outcome_table.ts";

/** A field that could not be compared. */
export interface Uncompared {
  /** Field of the order. */
  readonly field: string;
  /** Who left it out. */
  readonly by: "service" | "expectation";
}

export interface ExpectationMatch {
  readonly match: MatchFact;
  /**
   * What the order is compared with: the one that matched, else the last one
   * recorded before the order. Null when nothing was recorded, or too much.
   */
  readonly expected: Expectation | null;
  /** Of an `incomplete` one, what could not be compared. */
  readonly uncompared: readonly Uncompared[];
}

const COMPARED = fieldsWith("asked");

/** Fields without which an amount says nothing. */
const UNITS: Partial<Record<keyof OrderFacts, keyof OrderFacts>> = {
  currencyAmount: "currency",
  cryptoAmount: "commodity",
};

const NOTHING: ExpectationMatch = {
  match: "nothing",
  expected: null,
  uncompared: [],
};

/**
 * Compares the latest reading of an order with what the partner recorded under its
 * click id before the order. Nothing that a webhook says has a part in it.
 *
 * 1. What counts of a purchase are its latest terms until success was first
 *    read, under whatever click id.
 * 2. Terms that ask for no amount are left out where others ask for one: they
 *    would agree with any amount.
 * 3. Those that agree in every field that both state are of one purchase: it
 *    matched. Of several: nobody can tell which one was paid for.
 * 4. What the service leaves out does not agree: the match is incomplete.
 *
 * Of an order whose readings were redacted, what was found then holds while later
 * readings show the same amounts, currency, asset and network.
 */
export function matchExpectations(
  order: OrderFold,
  assets: AssetTable,
): ExpectationMatch {
  const { latest, redacted } = order;
  if (latest === null) return NOTHING;
  const found = matchReading(order, latest, assets);
  return redacted === null ? found : {
    match: isSameTrade(latest, redacted)
      ? redacted.match ?? "nothing"
      : "differs",
    expected: found.expected,
    uncompared: [],
  };
}

function matchReading(
  order: OrderFold,
  latest: OrderReading,
  assets: AssetTable,
): ExpectationMatch {
  const candidates = candidatesOf(order);
  if (candidates.length === 0) return NOTHING;
  if (candidates.length > CANDIDATES_COMPARED) {
    return { match: "several", expected: null, uncompared: [] };
  }
  const ordered = visibleFacts(latest);
  const terms = termsOf(order, candidates);
  const asking = terms.filter(asksForAmount);
  const compared = asking.length === 0 ? terms : asking;
  const agreeing = compared.filter((one) =>
    differences(ordered, one, assets).length === 0
  );
  const found = (
    match: MatchFact,
    among: readonly Expectation[],
    uncompared: readonly Uncompared[] = [],
  ) => ({ match, expected: lastBefore(order, among), uncompared });
  const [one] = agreeing;
  if (one === undefined) return found("differs", compared);
  if (agreeing.length > 1) return found("several", agreeing);
  const uncompared = uncomparedOf(ordered, one);
  const match = uncompared.length === 0 ? "matched" : "incomplete";
  return found(match, agreeing, uncompared);
}

/** A fiat amount with its currency, or else an amount of the asset with it. */
function asksForAmount(terms: Expectation): boolean {
  return (terms.currencyAmount !== null && terms.currency !== null) ||
    (terms.commodityAmount !== null && terms.commodity !== null);
}

/** What a reading states; a text in which nothing can be seen states nothing. */
function visibleFacts(latest: OrderReading): OrderFacts {
  return factsBy((field) =>
    isVisible(latest[field] ?? "") ? latest[field] : null
  );
}

/**
 * What the terms name and a reading leaves out. An amount says nothing without
 * its currency or asset. A user who is not stated is not missed.
 */
function uncomparedOf(
  ordered: OrderFacts,
  terms: Expectation,
): readonly Uncompared[] {
  const missing = COMPARED.filter((field) =>
    field !== "userId" && askedOf(terms, field) !== null &&
    (ordered[field] === null || ordered[UNITS[field] ?? field] === null)
  ).map((field): Uncompared => ({ field, by: "service" }));
  return asksForAmount(terms)
    ? missing
    : [{ field: "currencyAmount", by: "expectation" }, ...missing];
}

/** The service ignores an amount of the asset beside a fiat one. */
function askedOf(terms: Expectation, field: FieldsWith<"asked">) {
  return field === "cryptoAmount" && terms.currencyAmount !== null
    ? null
    : terms[ORDER_FIELDS[field].asked];
}

const TRADE = [
  ...["currency", "commodity", "network", "currencyAmount", "cryptoAmount"],
] as const;

/**
 * Whether a reading says the same of what was bought as one that was redacted:
 * what was recorded may be gone, so that it cannot be compared anew.
 */
function isSameTrade(a: OrderReading, b: OrderReading): boolean {
  return TRADE.every((field) => {
    const [one, other] = [a[field], b[field]];
    return one === null || other === null
      ? one === other
      : sameAmount(one, other);
  });
}

/** The last one recorded before the order began, else the first. */
function lastBefore(
  order: OrderFold,
  recorded: readonly Expectation[],
): Expectation | null {
  const began = beganBy(order) ?? "";
  return recorded.findLast((one) => compareTimes(askedAtOf(one), began) <= 0) ??
    recorded[0] ?? null;
}

/** In what an order is not what was asked for; what it leaves out does not differ. */
export function differences(
  ordered: OrderFacts,
  asked: Expectation,
  assets: AssetTable,
): readonly {
  readonly field: FieldsWith<"asked">;
  readonly requested: string;
  readonly ordered: string;
}[] {
  const network = ordered.network ?? asked.network;
  const decimals = assetPrecision(assets, ordered.commodity, network);
  return COMPARED.flatMap((field) => {
    const requested = askedOf(asked, field);
    const value = ordered[field];
    return requested === null || value === null ||
        sameValue(field, requested, value, { network, decimals })
      ? []
      : [{ field, requested, ordered: value }];
  });
}

export function factsOfOrder(fold: OrderFold, match: MatchFact): StoredFacts {
  const { latest, absentAt, seenAt, required } = fold;
  const shown = shownFact(fold);
  const look = countingLook(fold);
  const isGone = absentAt !== null && seenAt !== null &&
    compareTimes(absentAt, seenAt) > 0;
  const finals = otherFinals(fold);
  // A pair that cannot be looked up is left out where the rule says so.
  const isLeftOut = required === "supported" && look?.verdict === "unsupported";
  return {
    shown,
    gone: isGone ? "yes" : "no",
    before: finals.includes("success")
      ? "success"
      : finals.length > 0
      ? "other"
      : "none",
    code: codeFact(latest?.failReason ?? ""),
    tx: latest === null ? "unstated" : statedTransactionForm(latest),
    match,
    chain: chainFact(look, required !== null),
    required: required === null || isLeftOut ? "no" : "yes",
    claim: claimFact(fold, shown),
  };
}

/**
 * Result of a look at the chain. A difference within the partner's tolerance is
 * ignored; a larger one counts. If the chain is required and no tolerance is
 * stated, any difference counts.
 */
function chainFact(
  look: ChainReading | null,
  isRequired: boolean,
): ChainFact {
  if (look === null) return "none";
  const { verdict, final, amount, arrived } = look;
  if (!final) return "open";
  if (verdict === "delivered") return "agrees";
  if (verdict === "other_recipient_or_asset" || verdict === "reverted") {
    return "differs";
  }
  if (verdict !== "short" && verdict !== "more") return "open";
  const tolerance = look.tolerance ?? (isRequired ? "0" : null);
  if (tolerance === null || amount === null || arrived === null) return "off";
  const isWithin = new Big(amount).minus(arrived).abs().lte(tolerance);
  return isWithin ? "agrees" : "differs";
}

function shownFact(fold: OrderFold): ShownFact {
  const { latest, statusless, absentAt, claims } = fold;
  if (latest !== null) {
    return isKnown(latest.status) ? latest.status : "unlisted";
  }
  if (statusless !== null) return "unreadable";
  const isDenied = absentAt !== null ||
    (claims.length > 0 && highestClaim(fold) === null);
  return isDenied ? "denied" : "none";
}

const CODES: ReadonlyMap<string, CodeFact> = new Map([
  ...[["", "none"], ["4015", "expired"], ["4016", "late"]] as const,
  ...[["4017", "amount"], ["4018", "user"]] as const,
]);

export function codeFact(code: string): CodeFact {
  return CODES.get(code) ??
    (/^40(?:0[0-5]|1[0-4])$/.test(code) ? "declined" : "other");
}

/** Whether webhooks say more of an order than the service, which can go on. */
function claimFact(fold: OrderFold, shown: ShownFact): OutcomeFacts["claim"] {
  if (shown === "unreadable" || shown === "unlisted") return "none";
  const { latest } = fold;
  if (latest !== null && isFinal(latest.status)) return "none";
  const read = latest === null ? -1 : orderRank(latest.status);
  const highest = highestClaim(fold);
  if (highest !== null && orderRank(highest) > read) return "counts";
  return fold.claims.some((claim) =>
      orderRank(claim.status) > read &&
      claimState(fold, claim) === "contradicted"
    )
    ? "rejected"
    : "none";
}

/** What a person recorded of an order and has not taken back. */
export interface ByHand {
  /** What the person did. */
  readonly outcome: StandingOutcome;
  /** When it was recorded, UTC ISO 8601 with milliseconds. */
  readonly at: string;
  /** Whether the service has shown nothing new since. */
  readonly seen: boolean;
  /** Reasons that this has settled. */
  readonly settled: readonly AttentionKind[];
}

/** Reasons that end once the customer of an order that has ended is refunded. */
const MONEY_BACK: ReadonlySet<AttentionKind> = new Set([
  "refund_due",
  "cancelled_after_payment",
  "amount_mismatch",
  "final_changed",
]);

/**
 * What a person recorded of an order, and which reasons that settles. Null where
 * nothing stands.
 */
export function byHandOf(
  fold: OrderFold,
  facts: StoredFacts,
  outcome: Outcome,
): ByHand | null {
  const { hand, successReadAt, latest } = fold;
  const standing = standingOutcome(hand);
  if (hand === null || standing === null) return null;
  const { recordedAt: at } = hand;
  // What had changed and was not read nobody could know. A success read again was.
  const shownAt = latest?.status === "success" ? successReadAt : latest?.readAt;
  const seen = [shownAt, latest?.changedAt].every((time) =>
    time && compareTimes(time, at) <= 0
  );
  const byHand = { outcome: standing, at, seen };
  const settled = outcome.attention.filter((kind) =>
    settles(kind, byHand, facts)
  );
  return { ...byHand, settled };
}

/**
 * Lays what a person recorded over the outcome of an order's row. What the service
 * says with `no` stays; row and booking do not change. Goods that were delivered
 * before the order ended are listed.
 */
export function settle(
  outcome: Outcome,
  facts: Pick<StoredFacts, "shown" | "gone">,
  byHand: ByHand | null,
): Outcome {
  if (byHand === null) return outcome;
  const { release, reason } = outcome.release === "no"
    ? outcome
    : { release: "settled", reason: byHand.outcome } as const;
  const isReversed = byHand.outcome === "delivered" && release === "no" &&
    !byHand.seen;
  return {
    ...outcome,
    release,
    reason,
    attention: ATTENTION_KINDS.filter((kind) =>
      (kind === "reversed_after_success" && isReversed) ||
      (outcome.attention.includes(kind) && !settles(kind, byHand, facts))
    ),
  };
}

/**
 * Whether what a person recorded ends a reason. Another order that holds the
 * purchase is a person's to decide about, and one has decided.
 */
function settles(
  kind: AttentionKind,
  { outcome, seen }: Pick<ByHand, "outcome" | "seen">,
  { shown, gone }: Pick<StoredFacts, "shown" | "gone">,
): boolean {
  if (kind === "paid_twice") return true;
  if (!seen || gone === "yes") return false;
  if (shown === "success" || outcome === "written_off") return true;
  return outcome === "refunded" && MONEY_BACK.has(kind) &&
    (shown === "failed" || shown === "cancelled");
}
