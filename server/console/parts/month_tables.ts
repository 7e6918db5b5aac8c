import {
  AmountSum,
  type KindTotal,
  type MonthSummary,
  type MonthTotal,
} from "../../../ledger/for_resources.ts";
import type { SomeRows } from "../../../resources/months/month_books.ts";
import { counted } from "../../../resources/views/text.ts";
import {
  EXCLUSIONS,
  ROW_KIND_WORDS,
} from "../../../resources/wording/month.ts";
import {
  type Child,
  type Markup,
  markup,
  moment,
  moneyText,
  NOTHING,
  outsideText,
  section,
  sumText,
  table,
} from "../markup/markup.ts";
import { orderLink } from "./order_table.ts";

/**
 * Sums by currency, apart by kind, with how many rows state a fee and how many
 * do not.
 */
export function kindTable(kinds: readonly KindTotal[]): Markup {
  const groups = Map.groupBy(
    kinds,
    ({ kind, currency }) => `${kind} ${currency ?? ""}`,
  );
  return table(
    "Sums by kind and currency",
    [
      { title: "Rows" },
      { title: "Currency" },
      { title: "Count", number: true },
      { title: "Gross", number: true },
      { title: "Your fees (USD)", number: true },
      { title: "Your fee stated, not stated", number: true },
      { title: "Service's fees (USD)", number: true },
      { title: "Its fee stated, not stated", number: true },
    ],
    [...groups.values()].map((parts) => {
      const [{ kind, currency } = { kind: "all" as const, currency: null }] =
        parts;
      const rows = parts.reduce((sum, { rows }) => sum + rows, 0);
      const counts = (field: `${Amount}Unknown`) => {
        const without = unknown(parts, field);
        return `${rows - without}, ${without}`;
      };
      return [
        ROW_KIND_WORDS[kind],
        outsideText(currency ?? "not known", 20),
        rows,
        withUnknown(
          sum(added(parts, "currencyAmount"), currency ?? ""),
          unknown(parts, "currencyAmountUnknown"),
        ),
        sum(added(parts, "partnerFeeUsd"), "USD") ?? "",
        counts("partnerFeeUsdUnknown"),
        sum(added(parts, "serviceFeeUsd"), "USD") ?? "",
        counts("serviceFeeUsdUnknown"),
      ];
    }),
  );
}

/** Refunds that are due, by currency. */
export function refundList(
  refunds: ReadonlyMap<
    string,
    { readonly orders: number; readonly sum: string }
  >,
): Markup {
  return refunds.size === 0
    ? markup`<p>Refunds due: none.</p>`
    : markup`<p>${
      [...refunds].map(([currency, { orders, sum }]) =>
        markup`Refunds due: <a href="/attention?kind=refund_due">${
          moneyText(sum, currency || "of no currency")
        }, ${counted(orders, "order")}</a>. `
      )
    }</p>`;
}

/** Rows of books, each with a link to its order and, where that is another, to
 * the month of it. */
export function rowTable(
  label: string,
  { count, first }: SomeRows,
  { month, kinds = false }: {
    /** Month of the page. */
    readonly month: string;
    /** Whether the rows are of several kinds. @default {false} */
    readonly kinds?: boolean;
  },
): Markup {
  const more = count - first.length;
  return markup`${
    table(
      label,
      [
        { title: "Day" },
        ...kinds ? [{ title: "Row" }] : [],
        { title: "Order" },
        { title: "Amount", number: true },
        { title: "Asset", number: true },
        { title: "Your fee (USD)", number: true },
        { title: "Service's fee (USD)", number: true },
        { title: "Of" },
        { title: "Known" },
      ],
      first.map(({ day, kind, orderId, money, ofMonth, knownAt }) => [
        day,
        ...kinds ? [kind] : [],
        orderLink(orderId),
        money.currencyAmount === null
          ? "not stated"
          : moneyText(money.currencyAmount, money.currency),
        [
          money.cryptoAmount ?? "not stated",
          outsideText(money.commodity ?? "", 20),
        ]
          .join(" ").trim(),
        money.partnerFeeUsd === null
          ? "not stated"
          : sumText(money.partnerFeeUsd, "USD"),
        money.serviceFeeUsd === null
          ? "not stated"
          : sumText(money.serviceFeeUsd, "USD"),
        ofMonth === month ? "" : monthLink(ofMonth),
        moment(knownAt),
      ]),
    )
  }${
    more > 0 &&
    markup`<p class="soft">And ${
      counted(more, "row")
    } more, in <code>orders.csv</code>.</p>`
  }`;
}

/** A month, which leads to its page. */
export function monthLink(month: string): Markup {
  return markup`<a href="/months/${month}">${month}</a>`;
}

/** What the orders of a month cost, by currency. */
export function grossText(
  { totals }: {
    readonly totals: readonly (Sums & Pick<MonthTotal, "currency">)[];
  },
): string {
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

/** Sums of either table. */
type Sums = Pick<MonthTotal, Amount | `${Amount}Unknown`>;

/** The exact sum of what is known. */
function added(parts: readonly Sums[], field: Amount): string | null {
  const sum = new AmountSum();
  for (const part of parts) {
    if (part[field] !== null) sum.add(part[field], 1);
  }
  return sum.known;
}

function unknown(
  parts: readonly Sums[],
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
const BAR = { width: 18, gap: 4, height: 90, value: 14 } as const;

/** A bar for each day, by its orders, and the same as a table with its money. */
export function dayBars({ month, days }: MonthSummary): Markup {
  const byDay = Map.groupBy(days, ({ day }) => day);
  const ordersOf = (day: string) =>
    byDay.get(day)?.reduce((sum, { orders }) => sum + orders, 0) ?? 0;
  const [year = 0, number = 1] = month.split("-").map(Number);
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const names = Array.from(
    { length },
    (_, at) => `${month}-${String(at + 1).padStart(2, "0")}`,
  );
  const most = Math.max(1, ...names.map(ordersOf));
  const step = BAR.width + BAR.gap;
  const foot = BAR.value + BAR.height;
  const bars = names.map((day, at) => {
    const count = ordersOf(day);
    const height = Math.max(1, Math.round(BAR.height * count / most));
    const middle = at * step + BAR.width / 2;
    return markup`<g><title>${day}: ${counted(count, "order")}${
      count !== 0 && `, ${grossText({ totals: byDay.get(day) ?? [] })}`
    }</title>
<rect x="${at * step}" y="${
      foot - height
    }" width="${BAR.width}" height="${height}" class="${
      count > 0 ? "some" : "none"
    }"/>${
      count !== 0 &&
      markup`<text class="value" x="${middle}" y="${
        foot - height - 3
      }">${count}</text>`
    }<text x="${middle}" y="${foot + 14}">${at + 1}</text></g>`;
  });
  return markup`<svg class="bars" viewBox="0 0 ${length * step} ${
    foot + 18
  }" role="img" aria-label="Orders by day: at most ${most} on one day; the table below has each">${bars}</svg>
<details><summary>As a table</summary>${
    table(
      "Orders by day",
      [
        { title: "Day" },
        { title: "Orders", number: true },
        { title: "Gross", number: true },
      ],
      [...byDay].map(([day, totals]) => [
        day,
        ordersOf(day),
        grossText({ totals }),
      ]),
    )
  }</details>`;
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

/** Most odd orders of one kind that are listed. */
const ODD_LISTED = 20;

/** Orders of the books with an anomaly that affects money. */
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
