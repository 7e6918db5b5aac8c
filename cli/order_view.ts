import type { OrderState } from "../ledger/mod.ts";
import { labelled } from "./labelled.ts";
import { printable } from "./printable.ts";
import { drawTable } from "./table.ts";
import { wrap } from "./wrap.ts";

/** The stable `--json` shape of an order: the whole state, documented in
 * COMMANDS.md; fields are only ever added. */
export type OrderJson = OrderState;

/** An order as `--json` prints it: the state alone, without activity. */
export function orderJson(
  order: OrderState & { readonly activity?: unknown },
): OrderJson {
  const { activity: _, ...state } = order;
  return state;
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
      order.status,
      order.trust,
      amount(order.currencyAmount, order.currency),
      amount(order.cryptoAmount, order.commodity),
      minutes(order.createdAt),
      kinds(order),
    ]),
    columns,
  );
}

/** One order in full, for people: lines of text that fit the terminal. */
export function orderLines(
  order: OrderState,
  columns: number | null,
): string[] {
  const rows: [string, string | null][] = [
    ["Order", order.orderId],
    ["Status", `${order.status} (${order.trust})`],
    ["Because", order.reason],
    ["Reference", order.externalOrderId],
    ["Click id", order.clickId],
    ["User", order.userId],
    ["Amount", amount(order.currencyAmount, order.currency)],
    ["Asset", amount(order.cryptoAmount, order.commodity)],
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
  const lines = labelled(rows, columns);
  if (order.anomalies.length === 0) return lines;
  return [
    ...lines,
    "",
    "Anomalies:",
    ...order.anomalies.map(({ kind, detail }) =>
      wrap(`  ${kind}: ${printable(detail)}`, columns, 4)
    ),
  ];
}

function amount(value: string | null, unit: string | null): string {
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
  return order.failMeaning === null
    ? order.failReason
    : `${order.failReason}: ${order.failMeaning}`;
}

function fees(order: OrderState): string | null {
  const { partnerFee, serviceFee } = order.fees;
  if (partnerFee === null && serviceFee === null) return null;
  return `partner ${partnerFee ?? "?"}, service ${serviceFee ?? "?"}`;
}

function asked(order: OrderState): string | null {
  const { asked } = order;
  if (asked === null) return null;
  return [
    asked.reference === null ? "" : `reference ${asked.reference}`,
    amount(asked.currencyAmount, asked.currency),
    amount(asked.commodityAmount, asked.commodity),
    `session ${asked.sessionId}`,
  ].filter(Boolean).join(", ");
}

function statuses(order: OrderState, from: "webhook" | "snapshot"): string {
  return order.history.filter(({ source }) => source === from)
    .map(({ status }) => status).join(", ");
}
