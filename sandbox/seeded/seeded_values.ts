import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import {
  base58,
  base64urlnopad,
  bech32,
  createBase58check,
  hex,
} from "@scure/base";
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

const base58check = createBase58check(sha256);
const C32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** How the networks that are not of Ethereum's kin write what they have. */
interface Forms {
  /** An address, from 20 bytes in hex. */
  readonly address: (seed: string) => string;
  /** A transaction, from 32 bytes in hex. */
  readonly transaction: (seed: string) => string;
}

const solana: Forms = {
  address: (seed) => base58.encode(longer(seed)),
  transaction: (seed) => base58.encode(concatBytes(bytes(seed), longer(seed))),
};

const tezos: Forms = {
  address: (seed) => base58check.encode(prefixed([6, 161, 159], bytes(seed))),
  transaction: (seed) => base58check.encode(prefixed([5, 116], bytes(seed))),
};

const concordium: Forms = {
  address: (seed) => base58check.encode(prefixed([1], longer(seed))),
  transaction: (seed) => seed,
};

const FORMS: Readonly<Record<string, Forms>> = {
  bitcoin: {
    address: (seed) => bech32.encode("bc", [0, ...bech32.toWords(bytes(seed))]),
    transaction: (seed) => seed,
  },
  concordium,
  // The service's name for tokens on Concordium.
  mainnet: concordium,
  near: {
    address: (seed) => hex.encode(longer(seed)),
    transaction: (seed) => base58.encode(bytes(seed)),
  },
  solana,
  stacks: { address: stacksAddress, transaction: (seed) => `0x${seed}` },
  tezos,
  ghostnet: tezos,
  ton: { address: tonAddress, transaction: (seed) => seed },
};

/**
 * The address that a seed stands for, in its network's own form, with the
 * checksum that the form has.
 *
 * @param network Network as in the asset tables, in any case.
 * @param seed Twenty bytes in hex.
 * @returns The address; of Ethereum's form where no other is known.
 */
export function addressOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.address(seed) ?? `0x${seed}`;
}

/**
 * The transaction that a seed stands for, in its network's own form.
 *
 * @param network Network as in the asset tables, in any case.
 * @param seed 32 bytes in hex.
 * @returns The hash, or what the network has in place of it.
 */
export function transactionOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.transaction(seed) ?? `0x${seed}`;
}

function bytes(seed: string): Uint8Array {
  return hexToBytes(seed);
}

/** 32 bytes made of a seed, where a form wants more than it has. */
function longer(seed: string): Uint8Array {
  return sha256(bytes(seed));
}

function prefixed(prefix: readonly number[], rest: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.from(prefix), rest);
}

/** A single-signature address: c32check of version 22. */
function stacksAddress(seed: string): string {
  const version = 22;
  const body = bytes(seed);
  const check = sha256(sha256(prefixed([version], body))).slice(0, 4);
  let rest = BigInt(`0x${bytesToHex(concatBytes(body, check))}`);
  let text = "";
  for (; rest > 0n; rest /= 32n) text = C32.charAt(Number(rest % 32n)) + text;
  return `S${C32.charAt(version)}${text}`;
}

/** A bounceable address of the base chain, with its CRC-16. */
function tonAddress(seed: string): string {
  const body = prefixed([0x11, 0x00], longer(seed));
  let crc = 0;
  for (const byte of body) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return base64urlnopad.encode(
    concatBytes(body, Uint8Array.of(crc >> 8, crc & 0xff)),
  );
}
