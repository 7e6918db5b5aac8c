import { ORDER_FIELDS, orderField } from "../../core/wire/order_fields.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import type { Expectation } from "../events/expectation.ts";
import type { OrderFacts } from "../events/order_facts.ts";
import { differences } from "../outcomes/differences.ts";
import type { SessionMismatch, WebhookMismatch } from "./anomaly.ts";
import { CLAIM_FIELDS } from "../events/claim_body.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Resolved } from "../orders/resolve_order.ts";
import { assetPrecision } from "../orders/asset_precision.ts";
import { sameValue } from "../orders/compare.ts";

/**
 * Lists where an order is not what was asked for.
 *
 * @param fields Fields of the order; what is null is not compared.
 * @param expected What was asked for.
 * @param assets Asset table that gives the precision of amounts.
 * @returns The mismatches.
 */
export function sessionMismatches(
  fields: OrderFacts,
  expected: Expectation,
  assets: AssetTable,
): readonly SessionMismatch[] {
  const isRestricted = expected.flowType === "simple_full_restrict";
  return differences(fields, expected, assets).map((difference) => {
    const kind = ORDER_FIELDS[difference.field].mismatch;
    return {
      kind,
      source: "session",
      ...difference,
      customerMayChoose: !isRestricted && kind !== "user_mismatch",
    };
  });
}

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
