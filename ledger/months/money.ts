// @ts-types="@types/big.js"
import Big from "big.js";
import { isDecimal } from "../../core/decimal.ts";

/** What is booked of an order; null is not known, which is not nothing. */
export interface Money {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string | null;
  /** Asset code, upper case. */
  readonly commodity: string | null;
  /** Network of the asset. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string | null;
  /** The partner's fee in USD, a decimal string. */
  readonly partnerFeeUsd: string | null;
  /** The service's fee in USD, a decimal string. */
  readonly serviceFeeUsd: string | null;
}

/** The fields of {@linkcode Money} that are amounts. */
export const AMOUNTS = [
  "currencyAmount",
  "cryptoAmount",
  "partnerFeeUsd",
  "serviceFeeUsd",
] as const;

/** The fields of {@linkcode Money} that say of what. */
export const UNITS = ["currency", "commodity", "network"] as const;

/** Whether both are the same money: amounts by value, the rest as text. */
export function isSameMoney(a: Money | null, b: Money | null): boolean {
  if (a === null || b === null) return a === b;
  return UNITS.every((field) => a[field] === b[field]) &&
    AMOUNTS.every((field) => isSameAmount(a[field], b[field]));
}

function isSameAmount(a: string | null, b: string | null): boolean {
  return a === null || b === null ? a === b : new Big(a).eq(new Big(b));
}

/** The same money taken back: what is not known stays not known. */
export function negated(money: Money): Money {
  const taken = AMOUNTS.map((field) => [field, minus(money[field])]);
  return { ...money, ...Object.fromEntries(taken) };
}

function minus(amount: string | null): string | null {
  if (amount === null) return null;
  if (amount.startsWith("-")) return amount.slice(1);
  return new Big(amount).eq(0) ? amount : `-${amount}`;
}

/**
 * An amount as it is booked: a plain decimal as stated; null when it is no
 * amount that can be added up.
 *
 * @param stated What the service states.
 */
export function bookedAmount(stated: string | null): string | null {
  if (stated === null) return null;
  try {
    const value = new Big(stated);
    // A forged exponent would write out as many digits as it names.
    if (Math.abs(value.e) > 100) return null;
    return isDecimal(stated) ? stated : value.toFixed();
  } catch {
    return null;
  }
}

/** Adds up what is known, and counts what is not. */
export class AmountSum {
  #known: Big | null = null;
  #unknown = 0;

  /** Adds an amount of a row; `sign` is -1 for a row that takes one back. */
  add(amount: string | null, sign: 1 | -1): void {
    if (amount === null) this.#unknown += sign;
    else this.#known = (this.#known ?? new Big(0)).plus(amount);
  }

  /** The exact sum of the known ones; null where none is known. */
  get known(): string | null {
    return this.#known?.toFixed() ?? null;
  }

  /** How many are not known. */
  get unknown(): number {
    return this.#unknown;
  }
}
