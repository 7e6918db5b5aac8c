import { describeFailReason } from "../../core/assets/fail_reason.ts";
import {
  type Anomaly,
  type Freshness,
  type OrderReason,
  type OrderState,
  type OrderVerdict,
  verdictOf,
} from "../../ledger/mod.ts";
import { describeAnomaly } from "../wording/anomaly.ts";
import { describeFreshness } from "../wording/freshness.ts";
import { describeOrderReason } from "../wording/order_reason.ts";
import { describeOrderVerdict } from "../wording/order_verdict.ts";
import { ageText } from "./age.ts";
import { labelled } from "./labelled.ts";
import { printable } from "./printable.ts";
import { drawTable } from "./table.ts";
import { wrap } from "./wrap.ts";

/** What a sentence was made of, and the sentence. */
export type Worded<Coded> = Coded & { readonly message: string };

/** The stable `--json` shape of an order: the whole state, documented in
 * COMMANDS.md, with sentences; fields are only ever added. */
export interface OrderJson extends OrderState {
  /** The one thing to know first. */
  readonly verdict: Worded<OrderVerdict>;
  readonly reason: Worded<OrderReason>;
  /** Meaning of `failReason` where it is a documented code. */
  readonly failMeaning: string | null;
  readonly anomalies: readonly Worded<Anomaly>[];
}

/** An order as `--json` prints it: the state in words, without activity. */
export function orderJson(
  order: OrderState & { readonly activity?: unknown },
): OrderJson {
  const { activity: _, ...state } = order;
  const verdict = verdictOf(state);
  return {
    ...state,
    verdict: { ...verdict, message: describeOrderVerdict(verdict) },
    reason: {
      ...state.reason,
      message: describeOrderReason(state.reason),
    },
    failMeaning: failMeaning(state),
    anomalies: anomaliesJson(state.anomalies),
  };
}

/** Anomalies as `--json` prints them. */
export function anomaliesJson(
  anomalies: readonly Anomaly[],
): readonly Worded<Anomaly>[] {
  return anomalies.map((anomaly) => ({
    ...anomaly,
    message: describeAnomaly(anomaly),
  }));
}

/** Orders as a table, one a line. */
export function orderTable(
  orders: readonly OrderState[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Order", whole: true },
      { title: "Reference", whole: true, spare: 6 },
      { title: "Status", whole: true },
      { title: "Trust", whole: true, spare: 1 },
      { title: "Amount", align: "right", whole: true, spare: 2 },
      { title: "Asset", align: "right", whole: true, spare: 5 },
      { title: "Created (UTC)", whole: true, spare: 4 },
      { title: "Anomalies", spare: 3 },
    ],
    orders.map((order) => [
      order.orderId,
      order.externalOrderId ?? "",
      isSaid(order) ? order.status : "",
      isSaid(order) ? order.trust : "",
      amountText(order.currencyAmount, order.currency),
      amountText(order.cryptoAmount, order.commodity),
      minutes(order.createdAt),
      kinds(order),
    ]),
    columns,
  );
}

/**
 * One order in full, for people: lines of text that fit the terminal. The
 * verdict comes first, then what follows from it.
 *
 * @param nowMs The time that ages count to, in milliseconds since the epoch.
 * @param freshness How fresh it is; left out where that does not matter.
 */
export function orderLines(
  order: OrderState,
  columns: number | null,
  nowMs: number,
  freshness?: Freshness,
): string[] {
  const rows: [string, string | null][] = [
    ["Release", RELEASE[order.release]],
    ["Age", ageText(order, nowMs)],
    ["Fresh", freshness ? describeFreshness(freshness, nowMs) : null],
    ["Order", order.orderId],
    ["Status", statusText(order)],
    ["Because", describeOrderReason(order.reason)],
    ["Reference", order.externalOrderId],
    ["Click id", order.clickId],
    ["User", order.userId],
    ["Amount", amountText(order.currencyAmount, order.currency)],
    ["Asset", amountText(order.cryptoAmount, order.commodity)],
    ["Network", order.network],
    ["Address", order.address],
    ["Transaction", order.txId],
    ["Failure", failure(order)],
    ["Payment", [order.cardBrand, order.paymentType].filter(Boolean).join(" ")],
    ["Fees (USD)", fees(order)],
    ["Created", order.createdAt],
    ["Changed", order.changedAt],
    ["Asked for", asked(order)],
    ["Service said", statuses(order, "snapshot")],
    ["Webhooks said", statuses(order, "webhook")],
  ];
  return [
    wrap(printable(describeOrderVerdict(verdictOf(order))), columns, 0),
    "",
    ...labelled(rows, columns),
    ...anomalyLines(order.anomalies, columns),
  ];
}

/** Anomalies below what they are about; nothing where there are none. */
export function anomalyLines(
  anomalies: OrderState["anomalies"],
  columns: number | null,
): string[] {
  if (anomalies.length === 0) return [];
  return [
    "",
    "Anomalies:",
    ...anomalies.map((anomaly) =>
      wrap(
        `  ${anomaly.kind}: ${printable(describeAnomaly(anomaly))}`,
        columns,
        4,
      )
    ),
  ];
}

/** An amount and its unit; empty where there is none. */
export function amountText(value: string | null, unit: string | null): string {
  return value === null ? "" : [value, unit].filter(Boolean).join(" ");
}

function minutes(time: string | null): string {
  return time === null ? "" : time.slice(0, 16).replace("T", " ");
}

function kinds(order: OrderState): string {
  return [...new Set(order.anomalies.map(({ kind }) => kind))].join(", ");
}

function failure(order: OrderState): string | null {
  if (order.failReason === null) return null;
  const meaning = failMeaning(order);
  return meaning === null
    ? order.failReason
    : `${order.failReason}: ${meaning}`;
}

function failMeaning({ failReason }: OrderState): string | null {
  return failReason === null ? null : describeFailReason(failReason);
}

function fees(order: OrderState): string | null {
  const { partnerFee, serviceFee } = order.fees;
  if (partnerFee === null && serviceFee === null) return null;
  return `partner ${partnerFee ?? "?"}, service ${serviceFee ?? "?"}`;
}

const RELEASE: Readonly<Record<OrderState["release"], string>> = {
  yes: "yes: the goods may be released",
  no: "no: the order ended without success",
  wait: "wait: release no goods yet",
};

/** Whether anybody says a status of the order, and still counts. */
function isSaid({ claimed, confirmed }: OrderState): boolean {
  return claimed !== null || confirmed !== null;
}

/** The status and its trust; some orders have no stated status. */
function statusText(order: OrderState): string {
  if (isSaid(order)) return `${order.status} (${order.trust})`;
  return order.anomalies.some(({ kind }) => kind === "absent")
    ? "none: the service does not know the order"
    : "none: nothing that counts says one";
}

function asked(order: OrderState): string | null {
  const { asked } = order;
  if (asked === null) return null;
  return [
    asked.reference === null ? "" : `reference ${asked.reference}`,
    amountText(asked.currencyAmount, asked.currency),
    amountText(asked.commodityAmount, asked.commodity),
    `session ${asked.sessionId} (${order.sessionTrust})`,
  ].filter(Boolean).join(", ");
}

function statuses(order: OrderState, from: "webhook" | "snapshot"): string {
  return order.history.filter(({ source }) => source === from)
    .map(({ status }) => status).join(", ");
}
