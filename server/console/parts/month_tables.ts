import type {
  MonthSummary,
  MonthTotal,
} from "../../../ledger/for_resources.ts";
import { AmountSum } from "../../../ledger/for_server.ts";
import { counted } from "../../../resources/views/text.ts";
import { EXCLUSIONS } from "../../../resources/wording/month.ts";
import {
  type Child,
  type Markup,
  markup,
  NOTHING,
  section,
  table,
} from "../markup/markup.ts";
import { moneyText, sumText } from "../markup/money.ts";
import { outsideText } from "../markup/outside.ts";
import { orderLink } from "./order_table.ts";

/** Sums by currency, with how many orders state no amount or fee. */
export function currencyTable(
  { totals }: MonthSummary,
  refunds: ReadonlyMap<
    string,
    { readonly orders: number; readonly sum: string }
  >,
): Markup {
  const byCurrency = Map.groupBy(totals, ({ currency }) => currency ?? "");
  for (const currency of refunds.keys()) {
    if (!byCurrency.has(currency)) byCurrency.set(currency, []);
  }
  return table(
    "Sums by currency",
    [
      { title: "Currency" },
      { title: "Orders", number: true },
      { title: "Gross", number: true },
      { title: "Your fees (USD)", number: true },
      { title: "Without your fee stated", number: true },
      { title: "Service's fees (USD)", number: true },
      { title: "Without its fee stated", number: true },
      { title: "Refunds due", number: true },
    ],
    [...byCurrency].map(([currency, parts]) => {
      const refund = refunds.get(currency);
      return [
        outsideText(currency || "not known", 20),
        parts.reduce((sum, { orders }) => sum + orders, 0),
        withUnknown(
          sum(added(parts, "currencyAmount"), currency),
          unknown(parts, "currencyAmountUnknown"),
        ),
        sum(added(parts, "partnerFeeUsd"), "USD") ?? "",
        unknown(parts, "partnerFeeUsdUnknown"),
        sum(added(parts, "serviceFeeUsd"), "USD") ?? "",
        unknown(parts, "serviceFeeUsdUnknown"),
        refund === undefined
          ? "none"
          : `${sumText(refund.sum, currency)}, ${
            counted(refund.orders, "order")
          }`,
      ];
    }),
  );
}

/** What the orders of a month cost, by currency. */
export function grossText({ totals }: MonthSummary): string {
  const byCurrency = Map.groupBy(totals, ({ currency }) => currency ?? "");
  return [...byCurrency].map(([currency, parts]) => {
    const known = added(parts, "currencyAmount") ?? "unknown";
    return moneyText(known, currency || "of no currency");
  }).join("; ");
}

/** A sum with the decimals of its currency. */
function sum(known: string | null, currency: string): string | null {
  return known === null ? null : sumText(known, currency);
}

type Amount = "currencyAmount" | "partnerFeeUsd" | "serviceFeeUsd";

/** The exact sum of what is known. */
function added(parts: readonly MonthTotal[], field: Amount): string | null {
  const sum = new AmountSum();
  for (const part of parts) {
    if (part[field] !== null) sum.add(part[field], 1);
  }
  return sum.known;
}

function unknown(
  parts: readonly MonthTotal[],
  field: `${Amount}Unknown`,
): number {
  return parts.reduce((sum, part) => sum + part[field], 0);
}

function withUnknown(known: string | null, unknown: number): string {
  if (unknown === 0) return known ?? "";
  return known === null ? `${unknown} unknown` : `${known}, ${unknown} unknown`;
}

/** Sums by asset and network. */
export function assetTable({ totals }: MonthSummary): Markup {
  return table(
    "Sums by asset and network",
    [
      { title: "Asset" },
      { title: "Network" },
      { title: "Currency" },
      { title: "Orders", number: true },
      { title: "Of the asset", number: true },
      { title: "Gross", number: true },
    ],
    totals.map((total): Child[] => [
      outsideText(total.commodity ?? "not known", 40),
      outsideText(total.network ?? "", 40),
      outsideText(total.currency ?? "", 20),
      total.orders,
      withUnknown(total.cryptoAmount, total.cryptoAmountUnknown),
      withUnknown(
        sum(total.currencyAmount, total.currency ?? ""),
        total.currencyAmountUnknown,
      ),
    ]),
  );
}

/** Width and height of a bar of the days, in the units of the drawing. */
const BAR = { width: 18, gap: 4, height: 90 } as const;

/** A bar for each day, by its orders. */
export function dayBars({ month, days }: MonthSummary): Markup {
  const orders = new Map<string, number>();
  for (const { day, orders: more } of days) {
    orders.set(day, (orders.get(day) ?? 0) + more);
  }
  const [year = 0, number = 1] = month.split("-").map(Number);
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const most = Math.max(1, ...orders.values());
  const step = BAR.width + BAR.gap;
  const bars = Array.from({ length }, (_, at) => {
    const day = `${month}-${String(at + 1).padStart(2, "0")}`;
    const count = orders.get(day) ?? 0;
    const height = Math.max(1, Math.round(BAR.height * count / most));
    return markup`<g><title>${day}: ${counted(count, "order")}</title>
<rect x="${at * step}" y="${
      BAR.height - height
    }" width="${BAR.width}" height="${height}" class="${
      count > 0 ? "some" : "none"
    }"/><text x="${at * step + BAR.width / 2}" y="${BAR.height + 14}">${
      at + 1
    }</text></g>`;
  });
  return markup`<svg class="bars" viewBox="0 0 ${length * step} ${
    BAR.height + 18
  }" role="img" aria-label="Orders by day: at most ${most} on one day">${bars}</svg>`;
}

/** What is not in the books, and why. */
export function exclusionList({ excluded }: MonthSummary): Markup {
  const reasons = Object.entries(EXCLUSIONS).map(([reason, words]) => ({
    count: excluded[reason as keyof typeof excluded],
    words,
  })).filter(({ count }) => count > 0);
  return reasons.length === 0
    ? NOTHING
    : markup`<ul>${
      reasons.map(({ count, words }) =>
        markup`<li>Left out: ${counted(count, "order")}, ${words}</li>`
      )
    }</ul>`;
}

/** Odd orders of one kind that are listed. */
const ODD_LISTED = 20;

/** Orders of the books of which something about the money is odd. */
export function oddOrders({ anomalies }: MonthSummary): Markup {
  if (anomalies.length === 0) return NOTHING;
  return section(
    "odd",
    "Booked, and odd",
    markup`<ul>${
      anomalies.map(({ kind, orderIds }) =>
        markup`<li>${outsideText(kind.replaceAll("_", " "), 60)}: ${
          orderIds.slice(0, ODD_LISTED).map((id) => markup`${orderLink(id)} `)
        }${
          orderIds.length > ODD_LISTED &&
          `and ${orderIds.length - ODD_LISTED} more, in summary.json`
        }</li>`
      )
    }</ul>`,
  );
}
