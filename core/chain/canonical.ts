import { base64urlnopad, bech32, bech32m, hex } from "@scure/base";
import { isDecimal } from "../decimal.ts";
import { walletFamily } from "../rules/wallet_shape.ts";
import { chainNetwork } from "./chain_network.ts";

/** Networks that write addresses and transactions alike. */
type Writing = "evm" | "bitcoin" | "ton" | "other";

/** What a network is not known of may be any of these. */
const ANY: readonly Writing[] = ["evm", "bitcoin", "ton", "other"];

function writingsOf(network: string | null): readonly Writing[] {
  if (network === null || network === "") return ANY;
  const name = network.toLowerCase();
  if (name === "ton" || name === "bitcoin") return [name];
  const isEvm = walletFamily(name) === "evm" ||
    chainNetwork(name)?.family === "evm";
  return [isEvm ? "evm" : "other"];
}

const addresses: Readonly<Record<Writing, (text: string) => string | null>> = {
  evm: (text) => lowerWhere(/^0x[0-9a-f]{40}$/i, text),
  bitcoin: withoutBech32Case,
  ton: tonAccount,
  other: withoutBech32Case,
};

const transactions: Readonly<
  Record<Writing, (text: string) => string | null>
> = {
  evm: (text) => lowerWhere(/^0x[0-9a-f]{64}$/i, text),
  bitcoin: (text) => lowerWhere(/^[0-9a-f]{64}$/i, text),
  ton: tonTransaction,
  // Of other networks nothing is known but that a hash has no blank in it.
  other: (text) =>
    !isDecimal(text) && !/\s/u.test(text) && visibleLength(text) >= 20
      ? lowerWhere(/^0x[0-9a-f]+$/i, text) ?? text
      : null,
};

/**
 * The one form of an address: spellings of one address have the same. A text
 * that is no address of the network stays as it is, without blanks around it.
 */
export function canonicalAddress(network: string | null, text: string): string {
  return canonical(addresses, network, text);
}

/** The one form of a transaction, like {@linkcode canonicalAddress}. */
export function canonicalTransaction(
  network: string | null,
  text: string,
): string {
  return canonical(transactions, network, text);
}

function canonical(
  forms: typeof addresses,
  network: string | null,
  text: string,
): string {
  const trimmed = text.trim();
  for (const writing of writingsOf(network)) {
    const form = forms[writing](trimmed);
    if (form !== null) return form;
  }
  return trimmed;
}

/** How a transaction is stated: `unreadable` is a text of no known form. */
export type TransactionForm = "named" | "unreadable" | "empty";

/** From so many visible characters on, a text is meant to be a transaction. */
const UNREADABLE_FROM = 8;

/**
 * Whether a text names a transaction of a network. Less than eight visible
 * characters, such as `null` or `pending`, name none.
 */
export function transactionForm(
  network: string | null,
  text: string,
): TransactionForm {
  const trimmed = text.trim();
  const isNamed = writingsOf(network).some((writing) =>
    transactions[writing](trimmed) !== null
  );
  if (isNamed) return "named";
  // The service's numbers are read as their digits.
  if (isDecimal(trimmed)) return "empty";
  return visibleLength(text) >= UNREADABLE_FROM ? "unreadable" : "empty";
}

/** Whether a text has any character that a person can see. */
export function isVisible(text: string): boolean {
  return visibleLength(text) > 0;
}

const INVISIBLE =
  /[\p{White_Space}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

function visibleLength(text: string): number {
  return [...text.replace(INVISIBLE, "")].length;
}

function lowerWhere(form: RegExp, text: string): string | null {
  return form.test(text) ? text.toLowerCase() : null;
}

/** Bech32 is written in capitals or in none, and has a checksum to know it by. */
function withoutBech32Case(text: string): string | null {
  if (text !== text.toUpperCase() || !/^[A-Z]+1[A-Z0-9]+$/.test(text)) {
    return null;
  }
  return [bech32, bech32m].some((coder) => coder.decodeUnsafe(text, false))
    ? text.toLowerCase()
    : null;
}

/** Tag, work chain, hash of the account, checksum. */
const TON_BYTES = 36;
const TON_TAGS = [0x11, 0x51, 0x91, 0xd1];

/** An account of TON as `0:` and 64 hex digits, whichever way it is written. */
function tonAccount(text: string): string | null {
  const raw = /^(-?\d{1,3}):([0-9a-f]{64})$/i.exec(text);
  if (raw !== null) return `${Number(raw[1])}:${raw[2]?.toLowerCase()}`;
  const bytes = /^[\w+/-]{48}$/.test(text) ? base64Bytes(text) : null;
  if (bytes?.length !== TON_BYTES || !TON_TAGS.includes(bytes[0] ?? 0)) {
    return null;
  }
  const [high, low] = checksum(bytes.subarray(0, 34));
  if (bytes[34] !== high || bytes[35] !== low) return null;
  const chain = new Int8Array(bytes.buffer, bytes.byteOffset)[1];
  return `${chain}:${hex.encode(bytes.subarray(2, 34))}`;
}

/** A bounceable address of an account of the base chain, whose hash is in hex. */
export function tonAddress(hash: string): string {
  const bytes = new Uint8Array(TON_BYTES);
  bytes.set([0x11, 0, ...hex.decode(hash)]);
  bytes.set(checksum(bytes.subarray(0, 34)), 34);
  return base64urlnopad.encode(bytes);
}

/** The 32 bytes of a transaction of TON, in hex or in base64. */
function tonTransaction(text: string): string | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  const bytes = /^[\w+/-]{43}=?$/.test(text) ? base64Bytes(text) : null;
  return bytes?.length === 32 ? hex.encode(bytes) : null;
}

function base64Bytes(text: string): Uint8Array | null {
  try {
    return base64urlnopad.decode(
      text.replace(/=$/, "").replaceAll("+", "-").replaceAll("/", "_"),
    );
  } catch {
    return null;
  }
}

/** CRC-16 with the polynomial 0x1021, as two bytes. */
function checksum(bytes: Uint8Array): readonly [number, number] {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return [crc >> 8, crc & 0xff];
}
