import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { base58, bech32, bech32m, createBase58check } from "@scure/base";
import { walletFamily } from "./wallet_shape.ts";

const base58check = createBase58check(sha256);

/**
 * Whether an address can be one of a network: form and checksum, where the
 * network's form is known here (Ethereum and its kin, Bitcoin, Solana, Tezos).
 *
 * @param network Network as in the asset tables, in any case.
 * @returns True or false where the form is known, else null.
 *
 * @example Find a mistyped address
 * ```ts
 * import { isWalletAddress } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
 * assert.equal(isWalletAddress("polygon", address), true);
 * assert.equal(isWalletAddress("polygon", address.slice(0, -1)), false);
 * assert.equal(isWalletAddress("near", "somebody.near"), null);
 * ```
 */
export function isWalletAddress(
  network: string,
  address: string,
): boolean | null {
  switch (walletFamily(network)) {
    case "evm":
      return isEvm(address, network.toLowerCase() !== "rootstock");
    case "bitcoin":
      return isBitcoin(address);
    case "solana":
      return decodes(() => base58.decode(address), 32);
    case "tezos":
      return isTezos(address);
    case null:
      return null;
  }
}

/** Rootstock mixes its chain id into the checksum, so only the form is checked there. */
function isEvm(address: string, checksummed: boolean): boolean {
  const match = /^0x([0-9a-fA-F]{40})$/.exec(address);
  if (match === null) return false;
  const [, digits = ""] = match;
  const lower = digits.toLowerCase();
  if (!checksummed || digits === lower || digits === digits.toUpperCase()) {
    return true;
  }
  const hash = bytesToHex(keccak_256(new TextEncoder().encode(lower)));
  return [...digits].every((digit, at) => {
    const raised = Number.parseInt(hash.charAt(at), 16) >= 8;
    return digit === (raised ? digit.toUpperCase() : digit.toLowerCase());
  });
}

/** Main-net forms: P2PKH and P2SH (BIP 13), SegWit (BIP 173 and BIP 350). */
function isBitcoin(address: string): boolean {
  if (!/^bc1/i.test(address)) {
    const bytes = attempt(() => base58check.decode(address));
    return bytes !== null && bytes.length === 21 &&
      (bytes[0] === 0x00 || bytes[0] === 0x05);
  }
  const first = attempt(() => bech32.decode(address as `bc1${string}`));
  const later = attempt(() => bech32m.decode(address as `bc1${string}`));
  const coder = first === null ? bech32m : bech32;
  const words = (first ?? later)?.words;
  if (words === undefined) return false;
  const [version = 0, ...rest] = words;
  const program = attempt(() => coder.fromWords(rest));
  if (program === null || version > 16) return false;
  if ((version === 0) !== (first !== null)) return false;
  return version === 0
    ? program.length === 20 || program.length === 32
    : program.length >= 2 && program.length <= 40;
}

function isTezos(address: string): boolean {
  return /^(?:tz[1-4]|KT1)/.test(address) &&
    decodes(() => base58check.decode(address), 23);
}

function decodes(decode: () => Uint8Array, length: number): boolean {
  return attempt(decode)?.length === length;
}

/** The coders answer a wrong text with an exception. */
function attempt<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
