import type { OddField } from "../../core/wire/odd_field.ts";
import type { MatchFact } from "./match_fact.ts";
import type { RecordedEvent } from "./event.ts";
import type { OrderDetails, OrderFacts, OrderFees } from "./order_facts.ts";
import { effectiveReadAt, effectiveTime } from "./effective_time.ts";
import { normaliseStatus } from "../machines/order_rank.ts";
import type { Status } from "../machines/status.ts";
import { filledText, linking, statedText, textOf, upper } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

/**
 * What a reading of the orders endpoint says. In its fields null is absent and
 * the empty string is the service's word that there is none.
 */
export interface OrderReading extends OrderFacts, OrderDetails, OrderFees {
  /** Digest of the exact value. */
  readonly digest: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  /** Status; empty when none is stated that can be read. */
  readonly status: Status;
  /** Effective time of the last change, UTC ISO 8601; empty when not stated. */
  readonly changedAt: string;
  /** Effective creation time, UTC ISO 8601; empty when not stated. */
  readonly createdAt: string;
  /** `changed_at` as stated where `changedAt` is not that, else null. */
  readonly statedChangedAt: string | null;
  /** `created_at` as stated where `createdAt` is not that, else null. */
  readonly statedCreatedAt: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
  /** Fields that could not be read and are left out, sorted. */
  readonly odd: readonly OddField[];
  /**
   * How the order compared with what the partner recorded when this reading
   * was redacted; null for a reading that says it itself.
   */
  readonly match: MatchFact | null;
}

/**
 * Normalises an order of the Data API, numbers already exact decimal strings
 * and odd fields left out.
 *
 * Source: service interface, "Order (Data API)".
 */
export function readOrder(
  event: RecordedEvent,
  order: Readonly<Record<string, unknown>>,
  odd: readonly OddField[],
): OrderReading {
  const status = filledText(order.status);
  const crypto = filledText(order.crypto);
  const first = crypto === null ? -1 : crypto.indexOf(".");
  const last = crypto === null ? -1 : crypto.lastIndexOf(".");
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const time = (value: unknown) =>
    effectiveTime(normaliseTime(textOf(value)) ?? "", readAt);
  const changed = time(order.changed_at);
  const created = time(order.created_at);
  return {
    digest: event.digest ?? "",
    readAt,
    status: status === null ? "" : normaliseStatus(status),
    changedAt: changed.counts,
    createdAt: created.counts,
    statedChangedAt: changed.stated,
    statedCreatedAt: created.stated,
    currency: upper(statedText(order.currency)),
    currencyAmount: statedText(order.currency_amount),
    commodity: crypto === null || first === -1
      ? upper(crypto)
      : crypto.slice(0, first).toUpperCase(),
    cryptoType: crypto === null || last <= first
      ? null
      : crypto.slice(first + 1, last),
    network: crypto === null || last === -1 ? null : crypto.slice(last + 1),
    cryptoAmount: statedText(order.crypto_amount),
    address: statedText(order.address),
    txId: statedText(order.tx_id),
    userId: statedText(order.user_id),
    clickId: linking(textOf(order.click_id)),
    externalOrderId: statedText(order.external_order_id),
    failReason: statedText(order.fail_reason),
    cardId: statedText(order.card_id),
    cardBrand: statedText(order.card_brand),
    paymentType: statedText(order.payment_type),
    processedThrough: statedText(order.processed_through),
    partnerFee: statedText(order.partner_fee),
    partnerFeePercent: statedText(order.partner_fee_percent),
    serviceFee: statedText(order.service_fee),
    serviceFeePercent: statedText(order.service_fee_percent),
    scInputData: statedText(order.sc_input_data),
    odd,
    match: null,
  };
}
