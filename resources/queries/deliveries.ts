import { bodyValue, classify } from "../../core/webhook_event/classify_body.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/event_types.ts";
import { base64 } from "@scure/base";
import { defined, messageOf } from "../../core/guards.ts";
import {
  type DeliveryQuery,
  type Ledger,
  readDelivery,
  type StoredDelivery,
} from "../../ledger/mod.ts";
import { readDeliveryPage } from "../../ledger/for_resources.ts";
import { parseWebhook } from "../../webhooks/mod.ts";
import { flagParam, textParam } from "../../core/settings/params.ts";
import {
  dayAfter,
  dayParam,
  type FilterValues,
  listFilter,
  queryOf,
} from "./list_filters.ts";
import type { Page, PageParams } from "./page.ts";

/** What chooses deliveries. */
export const DELIVERY_FILTERS = {
  quarantined: listFilter(
    flagParam("Only bodies that are not a JSON object with a type"),
    "",
    (quarantined): DeliveryQuery => ({ quarantined }),
  ),
  order: listFilter(
    textParam("Only deliveries that name this order"),
    "<id>",
    (orderId): DeliveryQuery => ({ orderId }),
  ),
  user: listFilter(
    textParam("Only deliveries that name this user"),
    "<id>",
    (userId): DeliveryQuery => ({ userId }),
  ),
  type: {
    ...listFilter(
      textParam("Only deliveries of this type, for example order_complete"),
      "<type>",
      (type): DeliveryQuery => ({ type }),
    ),
    suggested: Object.keys(WEBHOOK_TYPES),
  },
  day: listFilter(
    dayParam("Only deliveries that were received on this day"),
    "<day>",
    (day): DeliveryQuery => ({
      receivedFrom: day,
      receivedBefore: dayAfter(day),
    }),
  ),
};

/** The values of filters; those that were left out are absent. */
export type DeliveryFilters = FilterValues<typeof DELIVERY_FILTERS>;

/** One page of deliveries, and how far the list was looked through for it. */
export interface DeliveriesPage extends Page<StoredDelivery> {
  /** Up to when, where the page ended because of that; else null. */
  readonly searchedTo: string | null;
}

/**
 * One page of `deliveries list --json`, newest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export function deliveriesPage(
  { driver }: Ledger,
  { cursor, limit, ...filters }: DeliveryFilters & PageParams,
): Promise<DeliveriesPage> {
  const query = queryOf<DeliveryQuery>(DELIVERY_FILTERS, filters);
  const page = defined({ ...query, limit, after: cursor });
  return readDeliveryPage(driver, page);
}

/** A webhook delivery with its body. */
export interface DeliveryDetailJson extends StoredDelivery {
  /** Why it is odd; empty when it is not. */
  readonly reasons: readonly string[];
  /** The body as text; null when it is not UTF-8, or was erased. */
  readonly text: string | null;
  /** The bytes of the body; null when it was erased. */
  readonly base64: string | null;
}

/** One delivery as `deliveries show --json` prints it. */
export async function deliveryDetail(
  ledger: Ledger,
  id: string,
): Promise<DeliveryDetailJson | null> {
  const found = await readDelivery(ledger.driver, id);
  if (found === null) return null;
  const { body, ...delivery } = found;
  return {
    ...delivery,
    reasons: body === null ? [] : reasonsOf(body),
    text: body === null ? null : utf8(body),
    base64: body === null ? null : base64.encode(body),
  };
}

/** The text of a body; null when its bytes are not UTF-8. */
function utf8(body: Uint8Array<ArrayBuffer>): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(body);
  } catch {
    return null;
  }
}

function reasonsOf(body: Uint8Array<ArrayBuffer>): readonly string[] {
  try {
    const webhook = parseWebhook(body);
    if (webhook.type === "unrecognised") return webhook.reasons;
    const { why } = classify(bodyValue(body));
    return why === null ? [] : [why];
  } catch (error) {
    return [messageOf(error)];
  }
}
