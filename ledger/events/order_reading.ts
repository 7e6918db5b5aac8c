import { emptyRecord } from "../../core/guards.ts";
import {
  ORDER_FIELD_NAMES,
  ORDER_FIELDS,
} from "../../core/wire/order_fields.ts";
import type { OddField } from "../../core/wire/page.ts";
import type {
  MatchFact,
  OrderDetails,
  OrderFacts,
  OrderFees,
} from "./order_facts.ts";
import type { RecordedEvent } from "./event.ts";
import {
  isVisible,
  type TransactionForm,
  transactionForm,
} from "../../core/chain/canonical.ts";
import { compareTimes, effectiveReadAt, effectiveTime } from "./time.ts";
import { normaliseStatus } from "../machines/order_machine.ts";
import type { Status } from "../machines/transition.ts";
import { filledText, linking, statedText, textOf, upper } from "./fact_text.ts";
import { normaliseTime } from "../../core/time/service_time.ts";

/**
 * What a reading of the orders endpoint says. In its fields null means absent,
 * and the empty string that the service states that there is none.
 */
export interface OrderReading extends OrderFacts, OrderDetails, OrderFees {
  /** Digest of the exact value. */
  readonly digest: string;
  /** Effective time of the reading, UTC ISO 8601. */
  readonly readAt: string;
  /** Status; empty when none is stated, or it cannot be read. */
  readonly status: Status;
  /**
   * Effective time of the last change, UTC ISO 8601. One that is not stated, or
   * lies before the creation, is none: then it is that of the reading.
   */
  readonly changedAt: string;
  /** Effective creation time, UTC ISO 8601; empty when not stated. */
  readonly createdAt: string;
  /**
   * `changed_at` as stated where `changedAt` is not that, else null; empty where
   * none was stated.
   */
  readonly statedChangedAt: string | null;
  /** `created_at` as stated where `createdAt` is not that, else null. */
  readonly statedCreatedAt: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
  /** Fields that could not be read and are left out, sorted. */
  readonly odd: readonly OddField[];
  /**
   * How the order compared with what the partner recorded when this reading was
   * redacted; null for a reading that was not redacted.
   */
  readonly match: MatchFact | null;
  /** How it stated a transaction that was redacted; else null. */
  readonly erasedTx: Exclude<TransactionForm, "empty"> | null;
}

/**
 * Normalises an order of the Data API, numbers already exact decimal strings
 * and odd fields left out.
 *
 * Source: service interface, "Order (Data API)".
 */
export function readOrder(
  event: Pick<RecordedEvent, "digest" | "readAt" | "recordedAt">,
  order: Readonly<Record<string, unknown>>,
  odd: readonly OddField[],
): OrderReading {
  const status = filledText(order.status);
  const readAt = effectiveReadAt(event.readAt, event.recordedAt);
  const time = (value: unknown) =>
    effectiveTime(normaliseTime(textOf(value)) ?? "", readAt);
  const changed = time(order.changed_at);
  const created = time(order.created_at);
  const reading: Filled = { ...unread };
  reading.digest = event.digest;
  reading.readAt = readAt;
  reading.status = status === null ? "" : normaliseStatus(status);
  const isNone = changed.counts === "" ||
    (created.stated === null && changed.stated === null &&
      compareTimes(changed.counts, created.counts) < 0);
  reading.changedAt = isNone ? readAt : changed.counts;
  reading.createdAt = created.counts;
  reading.statedChangedAt = isNone ? changed.counts : changed.stated;
  reading.statedCreatedAt = created.stated;
  reading.odd = odd;
  for (const [name, wire] of STATED) reading[name] = statedText(order[wire]);
  reading.currency = upper(reading.currency);
  reading.txId = statedTransaction(order.tx_id, odd);
  reading.clickId = linking(textOf(order.click_id));
  const crypto = filledText(order.crypto);
  if (crypto !== null) {
    const first = crypto.indexOf(".");
    const last = crypto.lastIndexOf(".");
    reading.commodity = upper(first === -1 ? crypto : crypto.slice(0, first));
    if (last > first) reading.cryptoType = crypto.slice(first + 1, last);
    if (last !== -1) reading.network = crypto.slice(last + 1);
  }
  return reading;
}

/**
 * Null where the service leaves the transaction out. What is no text, or has
 * nothing to see in it, states that there is none.
 */
function statedTransaction(
  value: unknown,
  odd: readonly OddField[],
): string | null {
  const text = statedText(value);
  if (text === null) {
    return odd.some(({ field }) => field === "tx_id") ? "" : null;
  }
  return isVisible(text) ? text : "";
}

/**
 * How a reading states the transaction: not at all in the earlier form of the
 * service's answers.
 */
export function statedTransactionForm(
  { erasedTx, network, txId }: Pick<
    OrderReading,
    "erasedTx" | "network" | "txId"
  >,
): TransactionForm | "unstated" {
  if (erasedTx !== null) return erasedTx;
  return txId === null ? "unstated" : transactionForm(network || null, txId);
}

type Filled = { -readonly [Name in keyof OrderReading]: OrderReading[Name] };

/**
 * An empty object to copy and fill, which is as fast as one with all fields at
 * once.
 */
export const unread: OrderReading = {
  ...emptyRecord(ORDER_FIELD_NAMES),
  digest: "",
  readAt: "",
  status: "",
  changedAt: "",
  createdAt: "",
  statedChangedAt: null,
  statedCreatedAt: null,
  odd: [],
  match: null,
  erasedTx: null,
};

/** Fields that are kept as stated, and where the service states them. */
const STATED = ORDER_FIELD_NAMES.map((name) =>
  [name, ORDER_FIELDS[name].wire] as const
).filter(([, wire]) => wire !== "crypto");
