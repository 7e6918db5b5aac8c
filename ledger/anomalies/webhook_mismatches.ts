import type { ClaimBody } from "../events/claim_body.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Resolved } from "../orders/resolve_order.ts";
import type { MismatchKind, WebhookMismatch } from "./anomaly.ts";
import { assetPrecision } from "../orders/asset_precision.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "../orders/compare.ts";

const kindOf = {
  currency: "amount_mismatch",
  currencyAmount: "amount_mismatch",
  commodity: "asset_mismatch",
  cryptoAmount: "amount_mismatch",
  address: "address_mismatch",
  txId: "transaction_mismatch",
  userId: "user_mismatch",
} as const satisfies Partial<Record<keyof ClaimBody, MismatchKind>>;

type ComparedField = keyof typeof kindOf;

const comparedFields = Object.keys(kindOf) as readonly ComparedField[];

/**
 * Lists the fields in which a webhook differs from the latest reading.
 *
 * @param latest The latest reading of the order.
 * @param resolved Intermediate results of its state.
 * @param network Network that was asked for; null when it is not known.
 * @returns The first difference of each field.
 */
export function webhookMismatches(
  latest: OrderReading | null,
  resolved: Resolved,
  network: string | null,
): WebhookMismatch[] {
  if (latest === null) return [];
  const found: WebhookMismatch[] = [];
  for (const field of comparedFields) {
    const read = latest[field];
    if (!read) continue;
    const decimals = assetPrecision(
      resolved.assets,
      latest.commodity,
      latest.network ?? network,
    );
    const stated = firstOther(field, read, decimals, resolved);
    if (stated !== null) {
      found.push({
        kind: kindOf[field],
        field,
        source: "webhook",
        stated,
        read,
      });
    }
  }
  return found;
}

/** The first value of a webhook that differs from the reading. */
function firstOther(
  field: ComparedField,
  read: string,
  decimals: number | null,
  resolved: Resolved,
): string | null {
  for (const { bodies } of resolved.claims) {
    for (const { [field]: stated } of bodies) {
      if (
        stated !== null && stated !== read &&
        !agree(field, stated, read, decimals)
      ) return stated;
    }
  }
  return null;
}

function agree(
  field: ComparedField,
  stated: string,
  read: string,
  decimals: number | null,
): boolean {
  switch (field) {
    case "currencyAmount":
      return sameAmount(stated, read, null);
    case "cryptoAmount":
      return sameAmount(stated, read, decimals);
    case "address":
    case "txId":
      return sameHash(stated, read);
    case "currency":
    case "commodity":
      return sameIgnoringCase(stated, read);
    case "userId":
      return stated === read;
  }
}
