// @ts-types="@types/big.js"
import Big from "big.js";
import { ORDER_FIELDS } from "../../core/wire/order_fields.ts";
import type { OrderFacts } from "../events/order_facts.ts";
import {
  canonicalAddress,
  canonicalTransaction,
} from "../../core/chain/canonical.ts";
import { assetDecimals } from "../../core/assets/assets.ts";
import type { AssetTable } from "../../core/assets/environment.ts";

/**
 * Whether two amounts are equal as exact decimals, or within less than the smallest
 * unit of the asset: beyond an asset's precision one source may round and the other
 * cut. False also when either is not a decimal and the texts differ.
 */
export function sameAmount(
  a: string,
  b: string,
  decimals: number | null,
): boolean {
  if (a === b) return true;
  const left = decimalOf(a);
  const right = decimalOf(b);
  if (left === null || right === null) return false;
  if (decimals === null || beyondReason(left) || beyondReason(right)) {
    return left.eq(right);
  }
  return left.minus(right).abs().lt(new Big(`1e-${decimals}`));
}

/** Whether two codes are the same without regard to case. */
export function sameIgnoringCase(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}

/** Whether a difference to this number must not be computed: it would write
 * out as many digits as a forged exponent names. */
function beyondReason(value: Big): boolean {
  return Math.abs(value.e) > 1000;
}

function decimalOf(text: string): Big | null {
  try {
    return new Big(text.trim());
  } catch {
    return null;
  }
}

/** What the values of a field are amounts, addresses or transactions of. */
export interface ComparedOn {
  /** Network; null when it is not known. */
  readonly network: string | null;
  /** Precision of the asset; null compares its amounts exactly. */
  readonly decimals: number | null;
}

/**
 * Whether two values of a field are the same, by the rule of the table of fields.
 */
export function sameValue(
  field: keyof OrderFacts,
  a: string,
  b: string,
  { network, decimals }: ComparedOn,
): boolean {
  if (a === b) return true;
  const { same } = ORDER_FIELDS[field];
  switch (same) {
    case "amount":
      return sameAmount(a, b, null);
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
