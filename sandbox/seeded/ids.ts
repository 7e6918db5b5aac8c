import type { Random } from "./random.ts";

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

/** A transaction hash of an EVM network. */
export function seededTxHash(random: Random): string {
  return `0x${random.text(HEX, 64)}`;
}

/** An address of an EVM network. */
export function seededAddress(random: Random): string {
  return `0x${random.text(HEX, 40)}`;
}

/** `bytes` bytes of call data, in hex. */
export function seededInputData(random: Random, bytes: number): string {
  return `0x${random.text(HEX, bytes * 2)}`;
}
