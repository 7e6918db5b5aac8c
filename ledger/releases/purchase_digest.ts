import { hex } from "@scure/base";
import { createHmac } from "node:crypto";
import type { PurchaseName } from "./order_release.ts";

/**
 * The keyed digest by which a purchase is recognised. A person who was erased
 * cannot be read from it, and the purchase stays taken.
 *
 * @param key The ledger's key for purchases.
 * @param purchase What an order pays for.
 * @returns 64 hex digits.
 */
export function purchaseDigest(
  key: Uint8Array,
  { kind, name }: PurchaseName,
): string {
  const hmac = createHmac("sha256", key).update(`${kind}\0${name}`).digest();
  return hex.encode(new Uint8Array(hmac));
}
