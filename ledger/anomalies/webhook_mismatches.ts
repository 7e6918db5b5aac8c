import { orderField } from "../../core/wire/order_fields.ts";
import { CLAIM_FIELDS } from "../events/claim_body.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Resolved } from "../orders/resolve_order.ts";
import type { WebhookMismatch } from "./anomaly.ts";
import { assetPrecision } from "../orders/asset_precision.ts";
import { sameValue } from "../orders/compare.ts";

/** Fields that are compared: a mismatch of them has a kind. */
const COMPARED = CLAIM_FIELDS.flatMap((field) => {
  if (field === "scAddress" || field === "scInputData") return [];
  const kind = orderField(field).mismatch;
  return kind === undefined ? [] : [{ field, kind }];
});

type ComparedField = (typeof COMPARED)[number]["field"];

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
  for (const { field, kind } of COMPARED) {
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
        kind,
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
        !sameValue(field, stated, read, decimals)
      ) return stated;
    }
  }
  return null;
}
