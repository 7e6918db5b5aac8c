/** Whether two values are the same: amounts, addresses, transactions. */
// @ts-types="@types/big.js"
import Big from "big.js";
import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  canonicalAddress,
  canonicalTransaction,
} from "../../core/chain/canonical.ts";
import { ORDER_FIELDS } from "../../core/wire/order_fields.ts";
import { type ChainReading, isLaterLook } from "../events/chain_reading.ts";
import type { OrderFacts } from "../events/order_facts.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { digestOfBytes } from "../events/record.ts";

/**
 * Whether two amounts are equal as exact decimals, or within less than the smallest
 * unit of the asset: beyond an asset's precision one source may round and the other
 * cut. False also when either is not a decimal and the texts differ.
 */
export function sameAmount(
  a: string,
  b: string,
  decimals: number | null = null,
): boolean {
  if (a === b) return true;
  const left = decimalOf(a);
  const right = decimalOf(b);
  if (left === null || right === null) return false;
  // A difference writes out as many digits as a forged exponent names.
  const isBeyondReason = [left, right].some(({ e }) => Math.abs(e) > 1000);
  return decimals === null || isBeyondReason
    ? left.eq(right)
    : left.minus(right).abs().lt(new Big(`1e-${decimals}`));
}

function decimalOf(text: string): Big | null {
  try {
    return new Big(text.trim());
  } catch {
    return null;
  }
}

export function sameIgnoringCase(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}

/** Whether two values of a field are the same, by the rule of the table of fields. */
export function sameValue(
  field: keyof OrderFacts,
  a: string,
  b: string,
  { network, decimals }: {
    /** Null when it is not known. */
    readonly network: string | null;
    /** Precision of the asset; null compares its amounts exactly. */
    readonly decimals: number | null;
  },
): boolean {
  if (a === b) return true;
  switch (ORDER_FIELDS[field].same) {
    case "amount":
      return sameAmount(a, b);
    case "asset_amount":
      return sameAmount(a, b, decimals);
    case "address":
      return canonicalAddress(network, a) === canonicalAddress(network, b);
    case "transaction":
      return canonicalTransaction(network, a) ===
        canonicalTransaction(network, b);
    case "any_case":
      return sameIgnoringCase(a, b);
    case "exact":
      return false;
  }
}

/** Decimals of an asset on a network. Null when the table does not say. */
export function assetPrecision(
  assets: AssetTable,
  commodity: string | null,
  network: string | null,
): number | null {
  return commodity === null || network === null
    ? null
    : assetDecimals(assets, commodity, network);
}

export function latestLook(
  looks: readonly ChainReading[],
): ChainReading | null {
  return looks.reduce<ChainReading | null>(
    (best, one) => best === null || isLaterLook(one, best) ? one : best,
    null,
  );
}

/**
 * The look that counts: the latest final one, else the latest, of those that are
 * made for exactly what the service shows now. Null where nobody looked at that.
 */
export function countingLook(
  { looks, latest }: {
    readonly looks: readonly ChainReading[];
    readonly latest: OrderReading | null;
  },
): ChainReading | null {
  const about = looks.filter((one) => latest !== null && isAbout(one, latest));
  return latestLook(about.filter((one) => one.final)) ?? latestLook(about);
}

/**
 * Whether a look was made for exactly what a reading shows. What an erasure took
 * away of either counts as equal; what it keeps is compared.
 */
export function isAbout(look: ChainReading, shown: OrderReading): boolean {
  const same = sameIgnoringCase;
  const kept = same(look.network, shown.network ?? "") &&
    same(look.asset ?? "", shown.commodity ?? "") &&
    same(look.type ?? "", shown.cryptoType ?? "") &&
    sameAmount(look.amount ?? "", shown.cryptoAmount ?? "");
  if (!kept || look.erased || shown.erasedTx !== null) return kept;
  return sameTransfer(shown.network, look, shown) &&
    (look.inputData ?? "") === inputDigest(shown.scInputData);
}

/** Whether two orders name one transaction, and one address or contract in it. */
export function sharesTransfer(
  one: OrderReading,
  other: OrderReading,
): boolean {
  return sameIgnoringCase(one.network ?? "", other.network ?? "") &&
    sameTransfer(one.network, one, other);
}

type Transfer = Pick<OrderReading, "txId" | "address">;

function sameTransfer(network: string | null, one: Transfer, other: Transfer) {
  const on = { network, decimals: null };
  return (["txId", "address"] as const).every((field) =>
    sameValue(field, one[field] ?? "", other[field] ?? "", on)
  );
}

/** What a look keeps of the input data of a call; empty where there is none. */
export function inputDigest(inputData: string | null): string {
  return inputData
    ? digestOfBytes(new TextEncoder().encode(inputData.toLowerCase()))
    : "";
}
