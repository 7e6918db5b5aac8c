import type { Fact, OrderSnapshotFact } from "../events/fact.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { compareTimes, earlierTime } from "../events/time.ts";
import { foldOrder, type OrderFold } from "../orders/order_fold.ts";
import type { ResolveOptions } from "../orders/order_status.ts";
import { orderState } from "../states/order_state.ts";
import {
  bookedAmount,
  isSameMoney,
  type Money,
  type MonthRow,
} from "./month_row.ts";

/** What the books need to know of an order. */
export interface OrderBooks {
  /** What each of its rows says. */
  readonly row: Pick<MonthRow, "orderId" | "times" | "anomalies" | "witness">;
  /** What is sold, for a sale; else null. */
  readonly money: Money | null;
  /**
   * Since when a success is unclear: the service does not show the order any
   * more, or with a status that is not known. Null of any other order.
   */
  readonly unclearSince: string | null;
  /** Whether only webhooks say that it succeeded. */
  readonly isClaimedOnly: boolean;
  /** Whether every reading of it was erased, so that nothing is known of it. */
  readonly isErased: boolean;
  readonly firstHeardAt: string;
  /** When the ledger learnt what `money` says, by events behind a position. */
  readonly knownAt: (after: number) => string;
}

/**
 * Computes what the books need of an order. Only readings of the service count:
 * a claim of a webhook is never booked.
 */
export function orderBooks(
  orderId: string,
  facts: readonly Fact[],
  options: ResolveOptions,
): OrderBooks | null {
  const fold = foldOrder(orderId, facts);
  const { firstAt } = fold.activity;
  if (firstAt === null) return null;
  const state = orderState(fold, options);
  const { witness } = state;
  const readings = facts.filter((fact) => fact.kind === "order_snapshot");
  const money = state.booked === "sale" && fold.latest !== null
    ? moneyOf(fold.latest)
    : null;
  return {
    row: {
      orderId,
      times: {
        created: fold.createdAt,
        completed:
          fold.observedStatuses.find(({ status }) => status === "success")
            ?.first || null,
        confirmed: readings.filter(isOfSuccess).reduce(
          (first: string | null, { recordedAt }) =>
            earlierTime(first, recordedAt),
          null,
        ),
      },
      anomalies: [...new Set(state.anomalies.map(({ kind }) => kind))]
        .filter((kind) => ABOUT_MONEY.has(kind)),
      witness: {
        verdict: witness?.verdict ?? "",
        final: witness === null ? "" : witness.final ? "yes" : "no",
        block: String(witness?.blockHeight ?? ""),
      },
    },
    money,
    unclearSince: state.booked === "nothing" && readings.some(isOfSuccess)
      ? unclearSince(fold, facts)
      : null,
    isClaimedOnly: state.status === "success" && state.trust === "claimed",
    isErased: readings.length === 0 &&
      facts.some((fact) =>
        fact.kind === "unreadable" && fact.label === "order_snapshot"
      ),
    firstHeardAt: firstAt,
    knownAt: (after) => knownAt(readings, money, after) ?? firstAt,
  };
}

function isOfSuccess({ reading }: OrderSnapshotFact): boolean {
  return reading.status === "success";
}

/** When the ledger learnt what makes a success unclear. */
function unclearSince(
  { seenAt, latest }: OrderFold,
  facts: readonly Fact[],
): string | null {
  const times = facts.flatMap((fact) =>
    fact.kind === "order_absent" && compareTimes(fact.readAt, seenAt ?? "") > 0
      ? fact.recordedAt
      : fact.kind === "order_snapshot" && fact.reading === latest &&
          latest.status !== "success"
      ? fact.recordedAt
      : []
  );
  return times.sort(compareTimes)[0] ?? null;
}

function moneyOf(reading: OrderReading): Money {
  return {
    currency: reading.currency || null,
    currencyAmount: bookedAmount(reading.currencyAmount),
    commodity: reading.commodity || null,
    network: reading.network || null,
    cryptoAmount: bookedAmount(reading.cryptoAmount),
    partnerFeeUsd: bookedAmount(reading.partnerFee),
    serviceFeeUsd: bookedAmount(reading.serviceFee),
  };
}

/**
 * The earliest of the readings that say so, or the latest if none does, because
 * it followed from others then.
 */
function knownAt(
  readings: readonly OrderSnapshotFact[],
  money: Money | null,
  after: number,
): string | null {
  const times = readings
    .filter((fact) =>
      fact.position > after &&
      isSameMoney(isOfSuccess(fact) ? moneyOf(fact.reading) : null, money)
    ).map(({ recordedAt }) => recordedAt).sort(compareTimes);
  return times[0] ??
    readings.map(({ recordedAt }) => recordedAt).sort(compareTimes).at(-1) ??
    null;
}

/** Anomalies that change what was sold, to whom it is owed, or how sure it is. */
const ABOUT_MONEY: ReadonlySet<string> = new Set([
  "amount_mismatch",
  "asset_mismatch",
  "transaction_mismatch",
  "success_without_transaction",
  "contested",
  "final_changed",
  "absent",
  "unreadable_field",
]);
