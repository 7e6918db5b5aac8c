import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { base58, bech32, createBase58check } from "@scure/base";
import { encodeTime } from "ulid";
import { spellingsOf } from "../core/chain/canonical.ts";
import type { Random } from "./random.ts";

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const HEX = "0123456789abcdef";

/** A ULID of the given time, its random part from the seed. */
export function seededUlid(timeMs: number, random: Random): string {
  return encodeTime(Math.max(0, Math.floor(timeMs))) +
    random.text(CROCKFORD, 16);
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

/** The same instant without its fraction of a second. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

const base58check = createBase58check(sha256);

/** An address of 20 bytes in hex, and a transaction of 32 bytes in hex. */
type Forms = readonly [
  address: (seed: string) => string,
  transaction: (seed: string) => string,
];

const same = (seed: string) => seed;
const tezos: Forms = [
  (seed) => base58check.encode(prefixed([6, 161, 159], hexToBytes(seed))),
  (seed) => base58check.encode(prefixed([5, 116], hexToBytes(seed))),
];
const concordium: Forms = [
  (seed) => base58check.encode(prefixed([1], longer(seed))),
  same,
];

/** How the networks that are not of Ethereum's kin write what they have. */
const FORMS: Readonly<Record<string, Forms>> = {
  bitcoin: [
    (seed) => bech32.encode("bc", [0, ...bech32.toWords(hexToBytes(seed))]),
    same,
  ],
  concordium,
  // The service's name for tokens on Concordium.
  mainnet: concordium,
  near: [
    (seed) => bytesToHex(longer(seed)),
    (seed) => base58.encode(hexToBytes(seed)),
  ],
  solana: [
    (seed) => base58.encode(longer(seed)),
    (seed) => base58.encode(concatBytes(hexToBytes(seed), longer(seed))),
  ],
  stacks: [stacksAddress, (seed) => `0x${seed}`],
  tezos,
  ghostnet: tezos,
  ton: [tonAddress, same],
};

/**
 * The address that twenty bytes in hex stand for, in its network's own form,
 * with the checksum that the form has; Ethereum's where no other is known.
 */
export function addressOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.[0](seed) ?? `0x${seed}`;
}

/** The transaction that 32 bytes in hex stand for, in its network's own form. */
export function transactionOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.[1](seed) ?? `0x${seed}`;
}

/** 32 bytes made of a seed, where a form wants more than it has. */
function longer(seed: string): Uint8Array {
  return sha256(hexToBytes(seed));
}

function prefixed(prefix: readonly number[], rest: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.from(prefix), rest);
}

/** A single-signature address: c32check of version 22. */
function stacksAddress(seed: string): string {
  const version = 22;
  const check = sha256(sha256(prefixed([version], hexToBytes(seed))));
  let rest = BigInt(`0x${seed}${bytesToHex(check.slice(0, 4))}`);
  let text = "";
  for (; rest > 0n; rest /= 32n) {
    text = CROCKFORD.charAt(Number(rest % 32n)) + text;
  }
  return `S${CROCKFORD.charAt(version)}${text}`;
}

/** A bounceable address of the base chain. */
function tonAddress(seed: string): string {
  const account = `0:${bytesToHex(longer(seed))}`;
  return spellingsOf(account).find((text) => /^EQ[\w-]{46}$/.test(text)) ??
    account;
}
