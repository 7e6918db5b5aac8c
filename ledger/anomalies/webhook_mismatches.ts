import type { ClaimBody } from "../events/claim_body.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Resolved } from "../orders/resolve_order.ts";
import type { MismatchKind, WebhookMismatch } from "./anomaly.ts";
import { assetPrecision } from "./asset_precision.ts";
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
 * @returns The first difference of each field.
 */
export function webhookMismatches(
  latest: OrderReading | null,
  resolved: Resolved,
): WebhookMismatch[] {
  if (latest === null) return [];
  const found: WebhookMismatch[] = [];
  for (const field of comparedFields) {
    const read = latest[field];
    if (!read) continue;
    const stated = firstOther(field, read, latest, resolved);
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
  latest: OrderReading,
  resolved: Resolved,
): string | null {
  for (const { bodies } of resolved.standing) {
    for (const { [field]: stated } of bodies) {
      if (
        stated !== null && stated !== read &&
        !agree(field, stated, read, latest, resolved)
      ) return stated;
    }
  }
  return null;
}

function agree(
  field: ComparedField,
  stated: string,
  read: string,
  latest: OrderReading,
  { session, assets }: Resolved,
): boolean {
  switch (field) {
    case "currencyAmount":
      return sameAmount(stated, read, null);
    case "cryptoAmount":
      return sameAmount(
        stated,
        read,
        assetPrecision(
          assets,
          latest.commodity,
          latest.network ?? session?.asked.network ?? null,
        ),
      );
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
