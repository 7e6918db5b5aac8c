/** Decimal text of `units` smallest units, without trailing zeros. */
export function decimalOf(units: bigint, decimals: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString()
    .padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + whole + (fraction ? `.${fraction}` : "");
}

/** Smallest units of plain decimal text; digits beyond `decimals` are cut. */
export function unitsOf(text: string, decimals: number): bigint {
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text);
  if (!match) {
    throw new TypeError(
      `Cannot read an amount: expected plain decimal text, got "${text}"`,
    );
  }
  const [, sign, whole = "0", fraction = ""] = match;
  const units = BigInt(
    whole + fraction.slice(0, decimals).padEnd(decimals, "0"),
  );
  return sign ? -units : units;
}

/** Adds zeros until there are at least `places` decimals: 10 -> 10.00. */
export function withPlaces(text: string, places: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(places, "0")}`;
}
