import { fileText, type MonthSummary } from "../../../ledger/internals.ts";
import type { MonthClose } from "../../../ledger/mod.ts";
import { counted } from "../../views/counted.ts";
import type { PageContext } from "../console_parts.ts";
import { type Child, type Markup, markup } from "../markup/markup.ts";
import { facts, section } from "../markup/lists.ts";
import { moment } from "../markup/times.ts";
import {
  assetTable,
  currencyTable,
  dayBars,
  leftOutList,
} from "../parts/month_tables.ts";
import { refundsDue } from "../parts/refunds_due.ts";
import type { PageParts } from "./layout.ts";

/** Whether a text is a month that books can have. */
export function isMonth(text: string): boolean {
  return /^[12]\d{3}-(0[1-9]|1[0-2])$/.test(text);
}

/** The books of a month: as it was closed, or as they are now. */
export async function monthPage(
  context: PageContext,
  month: string,
): Promise<PageParts | null> {
  if (!isMonth(month)) return null;
  const { ledger, openBooks } = context;
  const close = await ledger.months.get(month);
  const summary: MonthSummary | null = close === null
    ? await openBooks.of(month)
    : JSON.parse(fileText(close, "summary.json"));
  return {
    title: "Month",
    here: "months",
    body: markup`<p class="crumb"><a href="/months">Months</a></p>
<h1>${month} ${
      close === null
        ? markup`<span class="badge warn">open</span>`
        : markup`<span class="badge good">closed</span>`
    }</h1>
${
      summary === null
        ? markup`<p class="notice">This ledger is too large to work the books out for a page.
<code>rampkit month close</code> takes the time it needs.</p>`
        : await books(context, summary, close)
    }`,
  };
}

async function books(
  { ledger, nowMs }: PageContext,
  summary: MonthSummary,
  close: MonthClose | null,
): Promise<Markup> {
  const refunds = await refundsDue(ledger, windowOf(summary.month), nowMs);
  return markup`${section("terms", "How", terms(summary, close))}
${
    section(
      "currencies",
      "By currency",
      markup`${currencyTable(summary, refunds)}
<p class="soft">Refunds due are those of orders that were created in this month (UTC), as the ledger knows today.</p>
${leftOutList(summary)}`,
    )
  }
${section("days", "Orders by day", dayBars(summary))}
${section("assets", "By asset and network", assetTable(summary))}`;
}

/** The month in UTC, its first moment and that of the next. */
function windowOf(
  month: string,
): { readonly from: string; readonly to: string } {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return {
    from: new Date(Date.UTC(year, number - 1)).toISOString(),
    to: new Date(Date.UTC(year, number)).toISOString(),
  };
}

function terms(
  { timeZone, bookBy, asOf, rows, month }: MonthSummary,
  close: MonthClose | null,
): Markup {
  const state: Child = close === null
    ? "Not closed: this is what a closing would store now, and it may change"
    : markup`${moment(close.closedAt)}, and never changed since`;
  return facts([
    ["Closed", state],
    ["Time zone", timeZone],
    ["Booked by", `the time an order was ${bookBy}`],
    [
      "As of",
      `position ${asOf.position}, ${counted(asOf.events, "event")}`,
    ],
    ["Orders", rows.order],
    ["Late", rows.late || null],
    ["Reversals", rows.reversal || null],
    ["Restatements", rows.restatement || null],
    [
      "Downloads",
      close?.files.map(({ name, sha256 }) =>
        markup`<p><a href="/months/${month}/${name}" download="${month}-${name}">${name}</a>
<br><span class="soft">SHA-256 <code>${sha256}</code></span></p>`
      ),
    ],
  ]);
}
