import type { AssetTable } from "../../core/assets/environment.ts";
import { isVisible } from "../../core/chain/canonical.ts";
import {
  factsBy,
  type MatchFact,
  type OrderFacts,
} from "../events/order_facts.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { askedAtOf, type Expectation } from "../events/expectation.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { compareTimes } from "../events/time.ts";
import { assetPrecision, sameAmount, sameValue } from "../orders/compare.ts";
import { readingFacts } from "../orders/order_status.ts";
import {
  beganBy,
  CANDIDATES_COMPARED,
  candidatesOf,
  expectationWindow,
  termsOf,
} from "../orders/expectations.ts";
import {
  type FieldsWith,
  fieldsWith,
  ORDER_FIELDS,
} from "../../core/wire/order_fields.ts";

/** A field that could not be compared. */
export interface Uncompared {
  /** Field of the order. */
  readonly field: string;
  /** Who left it out. */
  readonly by: "service" | "expectation";
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
  /** Of an `incomplete` one, what could not be compared. */
  readonly uncompared: readonly Uncompared[];
}

const COMPARED = fieldsWith("asked");

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
      uncompared: [],
    };
  }
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

/**
 * Whether the terms that an order is compared with were asked for after it had
 * begun.
 */
export function isChangedLater(
  order: OrderFold,
  expected: Expectation | null,
): boolean {
  const window = expectationWindow(order);
  return window !== null && expected !== null &&
    askedAtOf(expected) > window.until;
}

/** A fiat amount with its currency, or else an amount of the asset with it. */
function asksForAmount(terms: Expectation): boolean {
  return (terms.currencyAmount !== null && terms.currency !== null) ||
    (terms.commodityAmount !== null && terms.commodity !== null);
}

/** What a reading states; a text in which nothing can be seen states nothing. */
function visibleFacts(latest: OrderReading): OrderFacts {
  const stated = readingFacts(latest);
  return factsBy((field) => {
    const value = stated[field];
    return value === null || isVisible(value) ? value : null;
  });
}

/**
 * What the terms name and a reading leaves out. An amount says nothing without
 * its currency or asset. A user who is not stated is not missed.
 */
function uncomparedOf(
  ordered: OrderFacts,
  terms: Expectation,
): readonly Uncompared[] {
  const isStated: { readonly [Field in FieldsWith<"asked">]: boolean } = {
    currency: ordered.currency !== null,
    currencyAmount: ordered.currencyAmount !== null &&
      ordered.currency !== null,
    commodity: ordered.commodity !== null,
    network: ordered.network !== null,
    cryptoAmount: terms.currencyAmount !== null ||
      (ordered.cryptoAmount !== null && ordered.commodity !== null),
    address: ordered.address !== null,
    userId: true,
  };
  const missing = COMPARED.filter((field) =>
    terms[ORDER_FIELDS[field].asked] !== null && !isStated[field]
  ).map((field): Uncompared => ({ field, by: "service" }));
  return asksForAmount(terms)
    ? missing
    : [{ field: "currencyAmount", by: "expectation" }, ...missing];
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
  order: OrderFold,
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

/** Lists how an order differs from what the partner asked for. */
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
