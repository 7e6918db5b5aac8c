// @ts-types="@types/big.js"
import Big from "big.js";
import type { ChainReading } from "../events/chain_reading.ts";
import { countingLook } from "../orders/compare.ts";
import { isFinal, isKnown, orderRank } from "../machines/order_machine.ts";
import type { Status } from "../machines/transition.ts";
import type { MatchFact } from "../events/order_facts.ts";
import { statedTransactionForm } from "../events/order_reading.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import {
  claimState,
  highestClaim,
  otherFinals,
} from "../orders/order_status.ts";
import type {
  ChainFact,
  CodeFact,
  OutcomeFacts,
  ShownFact,
  StoredFacts,
} from "./outcome_facts.ts";

/** The facts of an order that its outcome depends on. */
export function factsOfOrder(fold: OrderFold, match: MatchFact): StoredFacts {
  const { latest } = fold;
  const shown = shownFact(fold);
  const look = countingLook(fold);
  return {
    shown,
    gone: isGone(fold) ? "yes" : "no",
    before: beforeFact(otherFinals(fold)),
    code: codeFact(latest?.failReason ?? null),
    tx: latest === null ? "unstated" : statedTransactionForm(latest),
    match,
    chain: chainFact(look, fold.required !== null),
    required: requiredFact(fold, look),
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
  switch (verdict) {
    case "delivered":
      return "agrees";
    case "other_recipient_or_asset":
    case "reverted":
      return "differs";
    case "short":
    case "more": {
      const tolerance = look.tolerance ?? (isRequired ? "0" : null);
      if (tolerance === null || amount === null || arrived === null) {
        return "off";
      }
      return isWithin(amount, arrived, tolerance) ? "agrees" : "differs";
    }
    default:
      return "open";
  }
}

/** A pair that cannot be looked up is left out where the rule says so. */
function requiredFact(
  { required }: OrderFold,
  look: ChainReading | null,
): StoredFacts["required"] {
  const isLeftOut = required === "supported" &&
    look?.verdict === "unsupported";
  return required === null || isLeftOut ? "no" : "yes";
}

function isWithin(amount: string, arrived: string, tolerance: string): boolean {
  return new Big(amount).minus(arrived).abs().lte(tolerance);
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

/** Whether a reading showed the order, and the last one did not. */
function isGone({ absentAt, seenAt }: OrderFold): boolean {
  return absentAt !== null && seenAt !== null &&
    compareTimes(absentAt, seenAt) > 0;
}

function beforeFact(finals: readonly Status[]): OutcomeFacts["before"] {
  if (finals.length === 0) return "none";
  return finals.includes("success") ? "success" : "other";
}

const CODES: ReadonlyMap<string, CodeFact> = new Map(
  [
    ...["4000", "4001", "4002", "4003", "4004", "4005"],
    ...["4010", "4011", "4012", "4013", "4014"],
  ].map((code): [string, CodeFact] => [code, "declined"]).concat([
    ["4015", "expired"],
    ["4016", "late"],
    ["4017", "amount"],
    ["4018", "user"],
  ]),
);

/** The group of a payment error. */
export function codeFact(code: string | null): CodeFact {
  if (code === null || code === "") return "none";
  return CODES.get(code) ?? "other";
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
