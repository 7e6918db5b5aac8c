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
  for (const text of [a, b]) {
    if (isDecimal(text)) continue;
    throw new RangeError(
      `Cannot compare ${JSON.stringify(text)}: it is not a plain decimal; ` +
        `use digits with an optional point, such as "100.5"`,
    );
  }
  const scale = Math.max(a.length, b.length);
  const difference = unitsOfDecimal(a, scale) - unitsOfDecimal(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Smallest units of a plain decimal; digits beyond `decimals` are cut. */
export function unitsOfDecimal(text: string, decimals: number): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
}

/** A number of smallest units as a plain decimal, without trailing zeros. */
export function decimalOfUnits(units: bigint, decimals: number): string {
  if (units < 0n) return `-${decimalOfUnits(-units, decimals)}`;
  const digits = units.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, "");
  return digits.slice(0, point) + (fraction && `.${fraction}`);
}

/**
 * Counts the decimals a plain decimal really uses; trailing zeros are none.
 */
export function countDecimals(text: string): number {
  const [, fraction = ""] = text.split(".");
  return fraction.replace(/0+$/, "").length;
}
