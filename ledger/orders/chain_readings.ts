import { type ChainReading, isLaterLook } from "../events/chain_reading.ts";
import type { OrderReading } from "../events/order_reading.ts";
import {
  canonicalAddress,
  canonicalTransaction,
} from "../../core/chain/canonical.ts";
import { digestOfBytes } from "../events/record.ts";
import { sameAmount, sameIgnoringCase } from "./compare.ts";

/**
 * Adds a look to those that an order keeps: the latest final one and the latest
 * one, each once, earlier first. The same set in any order gives the same list.
 */
export function addChainReading(
  kept: readonly ChainReading[],
  added: ChainReading,
): readonly ChainReading[] {
  const all = [...kept, added];
  const final = latest(all.filter((one) => one.final));
  const last = latest(all);
  if (final === null || last === null || isSame(final, last)) {
    return last === null ? [] : [last];
  }
  return [final, last];
}

function latest(looks: readonly ChainReading[]): ChainReading | null {
  return looks.reduce<ChainReading | null>(
    (best, one) => best === null || isLaterLook(one, best) ? one : best,
    null,
  );
}

function isSame(a: ChainReading, b: ChainReading): boolean {
  return a.readAt === b.readAt && a.digest === b.digest;
}

/**
 * The look that counts: the latest final one, else the latest, of those that are
 * made for exactly what the service shows now. Null where nobody looked at that.
 */
export function countingLook(
  kept: readonly ChainReading[],
  shown: OrderReading | null,
): ChainReading | null {
  if (shown === null) return null;
  const about = kept.filter((one) => isAbout(one, shown));
  return latest(about.filter((one) => one.final)) ?? latest(about);
}

/**
 * Whether a look was made for exactly what a reading shows. What an erasure took
 * away of either counts as equal; what it keeps is compared.
 */
export function isAbout(look: ChainReading, shown: OrderReading): boolean {
  const { network } = shown;
  const same = sameIgnoringCase;
  const kept = same(look.network, network ?? "") &&
    same(look.asset ?? "", shown.commodity ?? "") &&
    same(look.type ?? "", shown.cryptoType ?? "") &&
    sameAmount(look.amount ?? "", shown.cryptoAmount ?? "", null);
  if (!kept || look.erased || shown.erasedTx !== null) return kept;
  return sameTransfer(network, look, shown) &&
    (look.inputData ?? "") === inputDigest(shown.scInputData);
}

/** Whether two orders name one transaction, and one address or contract in it. */
export function sharesTransfer(
  one: OrderReading,
  other: OrderReading,
): boolean {
  const { network } = one;
  return sameIgnoringCase(network ?? "", other.network ?? "") &&
    sameTransfer(network, one, other);
}

type Transfer = Pick<OrderReading, "txId" | "address">;

function sameTransfer(
  network: string | null,
  one: Transfer,
  other: Transfer,
): boolean {
  return canonicalTransaction(network, one.txId ?? "") ===
      canonicalTransaction(network, other.txId ?? "") &&
    canonicalAddress(network, one.address ?? "") ===
      canonicalAddress(network, other.address ?? "");
}

/** What a look keeps of the input data of a call; empty where there is none. */
export function inputDigest(inputData: string | null): string {
  return inputData ? digestOfBytes(utf8.encode(inputData.toLowerCase())) : "";
}

const utf8 = new TextEncoder();
