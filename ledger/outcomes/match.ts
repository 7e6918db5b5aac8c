import type { AssetTable } from "../../core/assets/environment.ts";
import type { MatchFact, OrderFacts } from "../events/order_facts.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { askedAtOf, type Expectation } from "../events/expectation.ts";
import { compareTimes } from "../events/time.ts";
import { assetPrecision, sameAmount, sameValue } from "../orders/compare.ts";
import { readingFacts } from "../orders/readings.ts";
import {
  beganBy,
  CANDIDATES_COMPARED,
  candidatesOf,
  compareExpectations,
  type ExpectedOrder,
  latestTerms,
} from "../orders/expectations.ts";
import {
  type FieldsWith,
  fieldsWith,
  ORDER_FIELDS,
} from "../../core/wire/order_fields.ts";

/** The part of a fold that a match depends on. */
export interface MatchInput extends ExpectedOrder {
  /** A, the latest reading. */
  readonly latest: OrderReading | null;
  /** The latest redacted reading that says how the order compared. */
  readonly redacted: OrderReading | null;
}

/** How an order compares with what the partner recorded. */
export interface ExpectationMatch {
  /** The result. */
  readonly match: MatchFact;
  /**
   * What the order is compared with: the one that matched, else the last one
   * recorded before the order. Null when nothing was recorded, or too much.
   */
  readonly expected: Expectation | null;
}

const NOTHING: ExpectationMatch = { match: "nothing", expected: null };

/**
 * Compares the latest reading of an order with what the partner recorded under
 * its click id before the order. Nothing that a webhook says has a part in it.
 *
 * 1. What counts of a reference are its latest terms before the order, under
 *    whatever click id. Records without a reference count as those of one
 *    reference of its own kind.
 * 2. Records that state no amount are left out where others state one: they
 *    would agree with any amount.
 * 3. Those that agree in every field that both state are of one reference: it
 *    matched. Of several references: nobody can tell which one was paid for.
 *
 * Of an order whose readings were redacted, what was found then holds while
 * later readings show the same amounts, currency, asset and network.
 *
 * @param order Folded facts of the order.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The result, and what the order was compared with.
 */
export function matchExpectations(
  order: MatchInput,
  assets: AssetTable,
): ExpectationMatch {
  const { latest } = order;
  if (latest === null) return NOTHING;
  const candidates = candidatesOf(order);
  const last = lastBefore(order, candidates);
  const { redacted } = order;
  if (redacted !== null) {
    return {
      match: isSameTrade(latest, redacted)
        ? redacted.match ?? "nothing"
        : "differs",
      expected: last,
    };
  }
  if (candidates.length === 0) return NOTHING;
  if (candidates.length > CANDIDATES_COMPARED) {
    return { match: "several", expected: null };
  }
  const ordered = readingFacts(latest);
  const terms = termsOf(order, candidates);
  const stating = terms.filter((one) => statesAmount(ordered, one));
  const compared = stating.length === 0 ? terms : stating;
  const agreeing = compared.filter((one) =>
    differences(ordered, one, assets).length === 0
  );
  if (agreeing.length === 0) {
    return { match: "differs", expected: lastBefore(order, compared) };
  }
  const expected = lastBefore(order, agreeing);
  if (stating.length === 0) return { match: "no_amount", expected };
  return { match: agreeing.length > 1 ? "several" : "matched", expected };
}

/** Candidates at the latest terms of their references, earliest first. */
function termsOf(
  order: MatchInput,
  candidates: readonly Expectation[],
): readonly Expectation[] {
  const unnamed = candidates.findLast(({ reference }) => reference === null);
  const terms = new Set(
    candidates.map((one) =>
      one.reference === null
        ? unnamed ?? one
        : latestTerms(order, one.reference) ?? one
    ),
  );
  return [...terms].sort(compareExpectations);
}

/**
 * Whether a reading says the same of what was bought as one that was redacted:
 * what was recorded may be gone, so that it cannot be compared anew.
 */
function isSameTrade(a: OrderReading, b: OrderReading): boolean {
  return a.currency === b.currency && a.commodity === b.commodity &&
    a.network === b.network &&
    sameStatedAmount(a.currencyAmount, b.currencyAmount) &&
    sameStatedAmount(a.cryptoAmount, b.cryptoAmount);
}

function sameStatedAmount(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : sameAmount(a, b, null);
}

/** The last one recorded before the order began, else the first. */
function lastBefore(
  order: MatchInput,
  recorded: readonly Expectation[],
): Expectation | null {
  const began = beganBy(order) ?? "";
  return recorded.findLast((one) => compareTimes(askedAtOf(one), began) <= 0) ??
    recorded[0] ?? null;
}

/** A field in which an order differs from what was asked for. */
export interface Difference {
  /** Field of the order. */
  readonly field: FieldsWith<"asked">;
  /** Value that was asked for. */
  readonly requested: string;
  /** Value of the order. */
  readonly ordered: string;
}

const COMPARED = fieldsWith("asked");

/**
 * Lists how an order differs from what the partner asked for.
 *
 * @param ordered Fields of the order; what is null is not compared.
 * @param asked What was asked for; what is null is not compared.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The differences; empty when all that both state agrees.
 */
export function differences(
  ordered: OrderFacts,
  asked: Expectation,
  assets: AssetTable,
): readonly Difference[] {
  const network = ordered.network ?? asked.network;
  const decimals = assetPrecision(assets, ordered.commodity, network);
  return COMPARED.flatMap((field) => {
    // The service ignores commodity_amount where currency_amount is set.
    if (field === "cryptoAmount" && asked.currencyAmount !== null) return [];
    const requested = asked[ORDER_FIELDS[field].asked];
    const value = ordered[field];
    return requested === null || value === null ||
        sameValue(field, requested, value, { network, decimals })
      ? []
      : [{ field, requested, ordered: value }];
  });
}

/**
 * Whether an amount can be compared: a fiat amount was asked for and the order
 * has one, or else an amount of the asset.
 *
 * @param ordered Fields of the order.
 * @param asked What was asked for.
 */
function statesAmount(
  ordered: OrderFacts,
  asked: Expectation,
): boolean {
  return asked.currencyAmount === null
    ? asked.commodityAmount !== null && ordered.cryptoAmount !== null
    : ordered.currencyAmount !== null;
}
