import { localDay, monthAfter, monthOf } from "../../../ledger/for_server.ts";
import type { MonthSummary } from "../../../ledger/for_resources.ts";
import { isMonth } from "../../../resources/queries/months.ts";
import { counted } from "../../../resources/views/text.ts";
import type { ClosedMonth } from "../context/closed_books.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  type Child,
  facts,
  type Markup,
  markup,
  NOTHING,
  section,
} from "../markup/markup.ts";
import { agoText, moment } from "../markup/times.ts";
import {
  assetTable,
  currencyTable,
  dayBars,
  exclusionList,
  oddOrders,
} from "../parts/month_tables.ts";
import { hidden } from "../parts/notes.ts";
import type { OpenMonth } from "../context/open_books.ts";
import type { PageParts } from "./layout.ts";

/** A page that waits for the books is loaded again after so long, seconds. */
const REFRESH_SECONDS = 5;

/** The books of a month: as it was closed, or as they are now. */
export async function monthPage(
  context: PageContext,
  month: string,
): Promise<PageParts | null> {
  if (!isMonth(month)) return null;
  const close = await context.closedBooks.get(month);
  return close === null
    ? await openMonth(context, month)
    : page(month, "closed", await books(context, close.summary, close));
}

async function openMonth(
  context: PageContext,
  month: string,
): Promise<PageParts> {
  const open = await context.openBooks.of(month);
  const { last } = open;
  if (last === null) {
    return {
      ...page(
        month,
        "open",
        markup`<p class="notice">${workingOut(open)}
This page loads itself again until they are there.</p>`,
      ),
      refreshSeconds: REFRESH_SECONDS,
    };
  }
  const atIso = new Date(last.atMs).toISOString();
  const older = open.underWay !== null &&
    markup`<p class="notice">These are the books of ${
      agoText(atIso, context.nowMs)
    }. ${workingOut(open)} Load the page again to see them.</p>`;
  return page(
    month,
    "open",
    markup`${older}${await earlier(context, month)}${await books(
      context,
      last.summary,
      null,
    )}${await closing(context, last.summary)}`,
  );
}

/** Orders of a month that should have been closed before stand in this one. */
async function earlier(
  { closedBooks }: PageContext,
  month: string,
): Promise<Markup> {
  const last = (await closedBooks.list()).at(-1);
  if (last === undefined || monthAfter(last.month) >= month) return NOTHING;
  const next = monthAfter(last.month);
  return markup`<p class="notice"><a href="/months/${next}">${next}</a> is not
closed yet. Until it is, orders of earlier months stand here as late.</p>`;
}

function page(
  month: string,
  state: "open" | "closed",
  body: Markup,
): PageParts {
  return {
    title: "Month",
    here: "months",
    body: markup`<p class="crumb"><a href="/months">Months</a></p>
<h1>${month} <span class="badge ${
      state === "open" ? "warn" : "good"
    }">${state}</span></h1>
${body}`,
  };
}

function workingOut({ underWay }: OpenMonth): string {
  return "The books are worked out now, order by order: " +
    `${counted(underWay ?? 0, "order")} read so far.`;
}

async function books(
  context: PageContext,
  summary: MonthSummary,
  close: ClosedMonth | null,
): Promise<Markup> {
  const refunds = await context.refunds.of(summary.month);
  return markup`${
    section("terms", "How it was worked out", terms(summary, close))
  }
${
    section(
      "currencies",
      "By currency",
      markup`${currencyTable(summary, refunds)}
<p class="soft">Refunds due are those of orders that were created in this month (UTC), as the ledger knows today.</p>
${exclusionList(summary)}`,
    )
  }
${oddOrders(summary)}
${section("days", "Orders by day", dayBars(summary))}
${section("assets", "By asset and network", assetTable(summary))}`;
}

function terms(
  { timeZone, bookBy, asOf, rows, month }: MonthSummary,
  close: ClosedMonth | null,
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
<span class="soft">${FILES[name] ?? ""}</span>
<br><span class="soft">SHA-256 <code>${sha256}</code></span></p>`
      ),
    ],
  ]);
}

const FILES: Readonly<Record<string, string>> = {
  "summary.json": "the sums of this page",
  "items.csv": "a row for each order, for a spreadsheet",
};

/** How the month is closed; nothing before it is over, or in its turn. */
async function closing(
  { closedBooks, operates, formToken, nowMs }: PageContext,
  { month, timeZone }: MonthSummary,
): Promise<Markup> {
  const today = localDay(timeZone)(new Date(nowMs).toISOString());
  if (monthOf(today) <= month) return NOTHING;
  const last = (await closedBooks.list()).at(-1);
  if (last === undefined) {
    return section(
      "close",
      "Close it",
      markup`<p>The first month that is closed decides time zone and booking time of all later ones. So it is closed by the command:</p>
<pre class="command" tabindex="0">rampkit month close ${month} --tz ${timeZone} --book-by confirmed</pre>`,
    );
  }
  const next = monthAfter(last.month);
  if (next !== month) {
    return section(
      "close",
      "Close it",
      markup`<p>Months are closed in their order: the next one is <a href="/months/${next}">${next}</a>.</p>`,
    );
  }
  return section(
    "close",
    "Close it",
    operates
      ? markup`<form class="note-form" action="/months/${month}" method="post">
${hidden({ form: formToken })}
<p>What is known at this moment is stored for good, with its files. What becomes known later is booked in a later month.</p>
<label class="row"><input type="checkbox" name="sure" value="yes" required> I have looked at the sums, and ${month} is to be closed for good</label>
<div class="row"><button class="primary">Close ${month}</button></div></form>`
      : markup`<p>Somebody with an <code>operate</code> token can close it here; the command does the same:</p>
<pre class="command" tabindex="0">rampkit month close ${month}</pre>`,
  );
}
