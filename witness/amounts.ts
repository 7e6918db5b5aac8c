import type { Verdict, VerdictReason } from "../core/chain/verdict.ts";
import { countDecimals, isDecimal } from "../core/decimal.ts";
import type { Payment } from "./finding.ts";

/** How amounts of an asset are compared. */
export interface AmountRule {
  /** Decimals of the asset on the chain. */
  readonly chainDecimals: number;
  /**
   * Digits that the service states after the point; null where that is not
   * known, then those of the chain.
   */
  readonly statedDecimals: number | null;
}

/** Result of the payments to an address. */
export interface AmountVerdict {
  /** The verdict. */
  readonly verdict: Verdict;
  /** Reason for the verdict. */
  readonly reason: VerdictReason | null;
  /** What arrived, a plain decimal; null where several orders share it. */
  readonly arrived: string | null;
  /** Place of the payment that counts. */
  readonly index: number | null;
}

/** Smallest units of a plain decimal; digits beyond `decimals` are cut. */
export function unitsOfDecimal(text: string, decimals: number): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
}

/** A number of smallest units as a plain decimal, without trailing zeros. */
export function decimalOfUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/**
 * Compares what arrived with what the service states, exactly: at the digits
 * that the service states of the asset, where the chain has more of them.
 *
 * A transaction that several orders name for one address pays each of them with
 * a payment of exactly its amount, or nobody can say whose is whose.
 *
 * @param payments What the transaction paid to the address.
 * @param amount What the service states, a plain decimal.
 * @param others Amounts of other orders that name the same transaction and
 * address.
 * @param rule How amounts of the asset are compared.
 * @returns The verdict on the amount.
 *
 * @example One unit is missing
 * ```ts
 * import { compareAmounts } from "./amounts.ts";
 * import assert from "node:assert/strict";
 *
 * const rule = { chainDecimals: 6, statedDecimals: 6 };
 * const compare = (units: bigint) =>
 *   compareAmounts([{ units, index: 3 }], "25", [], rule).verdict;
 * assert.equal(compare(25_000_000n), "delivered");
 * assert.equal(compare(24_999_999n), "short");
 * ```
 */
export function compareAmounts(
  payments: readonly Payment[],
  amount: string,
  others: readonly string[],
  rule: AmountRule,
): AmountVerdict {
  const { chainDecimals } = rule;
  const paid = payments.filter(({ units }) => units > 0n);
  const [first] = paid;
  if (first === undefined) {
    return {
      verdict: "other_recipient_or_asset",
      reason: null,
      arrived: "0",
      index: null,
    };
  }
  const sum = paid.reduce((sum, { units }) => sum + units, 0n);
  if (others.length === 0) {
    return {
      verdict: verdictOn(sum, amount, rule),
      reason: null,
      arrived: decimalOfUnits(sum, chainDecimals),
      index: paid.length === 1 ? first.index : null,
    };
  }
  const own = ownPayment(paid, amount, others, rule);
  if (own === null) {
    return {
      verdict: "undecided",
      reason: "shared_transaction",
      arrived: null,
      index: null,
    };
  }
  return {
    verdict: "delivered",
    reason: null,
    arrived: decimalOfUnits(own.units, chainDecimals),
    index: own.index,
  };
}

/** The payment of exactly this order's amount, if each other order has its own. */
function ownPayment(
  paid: readonly Payment[],
  amount: string,
  others: readonly string[],
  rule: AmountRule,
): Payment | null {
  const left = [...paid];
  let own: Payment | null = null;
  for (const [at, one] of [amount, ...others].entries()) {
    const found = isDecimal(one)
      ? left.findIndex(({ units }) =>
        verdictOn(units, one, rule) === "delivered"
      )
      : -1;
    const [payment] = found === -1 ? [] : left.splice(found, 1);
    if (payment === undefined) return null;
    if (at === 0) own = payment;
  }
  return own;
}

function verdictOn(
  units: bigint,
  amount: string,
  { chainDecimals, statedDecimals }: AmountRule,
): "delivered" | "short" | "more" {
  // Digits that were stated all the same count.
  const digits = Math.min(
    chainDecimals,
    Math.max(statedDecimals ?? chainDecimals, countDecimals(amount)),
  );
  const cut = 10n ** BigInt(chainDecimals - digits);
  const stated = unitsOfDecimal(amount, chainDecimals);
  // Of digits that the chain does not have, the last unit may be rounded.
  const rounded = countDecimals(amount) > chainDecimals ? 1n : 0n;
  const over = units - stated;
  if (over > -cut && over < cut + rounded) return "delivered";
  return units < stated ? "short" : "more";
}
