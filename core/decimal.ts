const plain = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/**
 * Whether a text is a plain decimal: digits with an optional sign and point,
 * without exponent, spaces or leading zeros.
 *
 * @param text What to look at.
 * @returns Whether it is a plain decimal.
 *
 * @example Look at amounts
 * ```ts
 * import { isDecimal } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(isDecimal("0.10"), true);
 * assert.equal(isDecimal("1e3"), false);
 * ```
 */
export function isDecimal(text: string): boolean {
  return plain.test(text);
}

/**
 * Compares two plain decimals exactly.
 *
 * @param a A plain decimal.
 * @param b A plain decimal.
 * @returns -1, 0 or 1 as `a` is less than, equal to or greater than `b`.
 * @throws {RangeError} When one is not a plain decimal.
 *
 * @example Compare a paid amount with a price
 * ```ts
 * import { compareDecimals } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(compareDecimals("100.50", "100.5"), 0);
 * assert.equal(compareDecimals("99.999999999999999999", "100"), -1);
 * ```
 */
export function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  const [first, second] = [partsOf(a), partsOf(b)];
  const scale = Math.max(first.fraction.length, second.fraction.length);
  const difference = unitsOf(first, scale) - unitsOf(second, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The digits of a plain decimal before the point, with its sign, and after it. */
interface Parts {
  readonly whole: string;
  readonly fraction: string;
}

function partsOf(text: string): Parts {
  if (!isDecimal(text)) {
    throw new RangeError(
      `Cannot compare ${JSON.stringify(text)}: it is not a plain decimal; ` +
        `use digits with an optional point, such as "100.5"`,
    );
  }
  const [whole = "", fraction = ""] = text.split(".");
  return { whole, fraction };
}

/** A decimal as an integer: how often it holds the unit that has `scale` decimals. */
function unitsOf({ whole, fraction }: Parts, scale: number): bigint {
  return BigInt(whole + fraction.padEnd(scale, "0"));
}

/**
 * Counts the decimals a plain decimal really uses; trailing zeros are none.
 */
export function countDecimals(text: string): number {
  const [, fraction = ""] = text.split(".");
  return fraction.replace(/0+$/, "").length;
}
