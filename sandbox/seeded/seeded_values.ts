import { addressOf, transactionOf } from "./chain_values.ts";
import type { Random } from "./random.ts";

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

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const HEX = "0123456789abcdef";

/** A ULID of the given time, its random part from the seed. */
export function seededUlid(timeMs: number, random: Random): string {
  let rest = Math.max(0, Math.floor(timeMs));
  let time = "";
  for (let at = 0; at < 10; at++) {
    time = CROCKFORD[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  return time + random.text(CROCKFORD, 16);
}

/** A UUID v4 from the seed. */
export function seededUuid(random: Random): string {
  const hex = random.text(HEX, 30);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-` +
    `${random.text("89ab", 1)}${hex.slice(15, 18)}-${hex.slice(18)}`;
}

/** A short identifier for people: no letters that look like digits. */
export function seededExternalId(random: Random): string {
  return random.text("23456789ABCDEFGHJKLMNPQRSTUVWXYZ", 6);
}

/** A transaction of a network, in its own form. */
export function seededTransaction(network: string, random: Random): string {
  return transactionOf(network, random.text(HEX, 64));
}

/** An address of a network, in its own form. */
export function seededAddress(network: string, random: Random): string {
  return addressOf(network, random.text(HEX, 40));
}

/** `bytes` bytes of call data, in hex. */
export function seededInputData(random: Random, bytes: number): string {
  return `0x${random.text(HEX, bytes * 2)}`;
}

/** `YYYY-MM-DD HH:MM:SS`, UTC: how orders state times. */
export function orderTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** ISO 8601 UTC with fractional seconds: how users state times. */
export function userTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The same instant without its fraction of a second. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}
