import { monthAfter, monthOf } from "../../../ledger/for_server.ts";
import {
  localDay,
  type MonthSummary,
  ROW_KINDS,
} from "../../../ledger/for_resources.ts";
import { CLOSE_MONTH } from "../../../resources/operations/month_operations.ts";
import type { BooksDigest } from "../../../resources/months/month_books.ts";
import {
  MONTH_FILE_NAMES,
  MONTH_FILES,
} from "../../../resources/months/month_files.ts";
import { ROW_KIND_WORDS } from "../../../resources/wording/month.ts";
import { isMonth } from "../../../resources/queries/months.ts";
import { counted } from "../../../resources/views/text.ts";
import type {
  ClosedMonth,
  OpenMonth,
  PageContext,
} from "../context/page_context.ts";
import {
  agoText,
  type Child,
  facts,
  type Markup,
  markup,
  moment,
  NOTHING,
  section,
  table,
} from "../markup/markup.ts";
import {
  assetTable,
  dayBars,
  exclusionList,
  grossText,
  kindTable,
  monthLink,
  oddOrders,
  refundList,
  rowTable,
} from "../parts/month_tables.ts";
import { operationForm } from "../parts/notes.ts";
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
    : page(month, "closed", await books(context, close.books, close));
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
      last.books,
      null,
    )}${await closing(context, last.books.summary)}`,
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
  return "The books are computed now, order by order: " +
    `${counted(underWay ?? 0, "order")} read so far.`;
}

async function books(
  context: PageContext,
  { summary, kinds, rows }: BooksDigest,
  close: ClosedMonth | null,
): Promise<Markup> {
  const refunds = await context.refunds.of(summary.month);
  return markup`${
    section("terms", "How it was worked out", terms(summary, close))
  }
${close !== null && await changedLater(context, summary.month)}
${
    section(
      "kinds",
      "Sales, and apart from them what corrects other months",
      markup`${kindTable(kinds)}${exclusionList(summary)}${refundList(refunds)}
<p class="soft">Refunds due are those of orders that were created in this month (UTC), as the ledger knows today.</p>`,
    )
  }
${oddOrders(summary)}
${section("days", "Orders by day", dayBars(summary))}
${section("assets", "By asset and network", assetTable(summary))}
${
    section(
      "files",
      "Files",
      files(summary.month, close),
    )
  }
${
    ROW_KINDS.toReversed().map((kind) =>
      rows[kind].count > 0 &&
      section(
        `rows-${kind}`,
        `${ROW_KIND_WORDS[kind]}: ${counted(rows[kind].count, "row")}`,
        rowTable(ROW_KIND_WORDS[kind], rows[kind], { month: summary.month }),
      )
    )
  }`;
}

/**
 * What later months have booked of a closed one, and what the next one would
 * book now: the closed month itself never changes.
 */
async function changedLater(
  { closedBooks, openBooks }: PageContext,
  month: string,
): Promise<Markup> {
  const all = await closedBooks.list();
  const next = monthAfter(all.at(-1)?.month ?? month);
  const open = openBooks.latest(next);
  const later = [
    ...all.filter((one) => one.month > month),
    ...open === null ? [] : [{ month: next, books: open.books }],
  ].flatMap(({ month: bookedIn, books }) => {
    const rows = books.corrects.get(month);
    return rows === undefined ? [] : [{ bookedIn, rows }];
  });
  const unknown = open === null &&
    markup`<p class="soft">Whether ${
      monthLink(next)
    }, which is not closed, changes more is being worked out: load the page again.</p>`;
  return section(
    "later",
    "Changed since it was closed",
    later.length === 0
      ? markup`<p>${
        open === null
          ? "Nothing in closed months."
          : "Nothing: what it booked still stands."
      }</p>${unknown}`
      : markup`${
        later.map(({ bookedIn, rows }) =>
          markup`<p>${counted(rows.count, "row")} in ${monthLink(bookedIn)}${
            bookedIn === next && ", as it would be closed now"
          }:</p>${
            rowTable(`Booked in ${bookedIn}`, rows, { month, kinds: true })
          }`
        )
      }${unknown}`,
  );
}

function terms(
  { timeZone, bookBy, asOf, rows }: MonthSummary,
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
  ]);
}

/** The files of a month; of an open one as they would be now. */
function files(month: string, close: ClosedMonth | null): Markup {
  return facts(
    MONTH_FILE_NAMES.map((name) => {
      const stored = close?.files.find((file) => file.name === name);
      return [
        name,
        markup`<p><a href="/months/${month}/${name}" download="${month}-${name}">${name}</a>${
          MONTH_FILES[name].make !== undefined &&
          markup`, <a href="/months/${month}/${name}?decimalMark=," download="${month}-${name}">with decimal commas</a>`
        }
<span class="soft">${MONTH_FILES[name].means}</span>${
          stored !== undefined &&
          markup`<br><span class="soft">SHA-256 <code>${stored.sha256}</code></span>`
        }</p>`,
      ];
    }),
  );
}

/** How the month is closed; nothing before it is over, or in its turn. */
async function closing(
  context: PageContext,
  { month, timeZone }: MonthSummary,
): Promise<Markup> {
  const { closedBooks, operates, nowMs } = context;
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
      ? operationForm(
        context,
        {
          operation: CLOSE_MONTH,
          given: { month },
          back: `/months/${month}`,
          style: "note-form",
        },
        markup`<p>What is known at this moment is stored for good, with its files. What becomes known later is booked in a later month.</p>
<label class="row"><input type="checkbox" name="sure" value="yes" required> I have looked at the sums, and ${month} is to be closed for good</label>
<div class="row"><button class="primary">Close ${month}</button></div>`,
      )
      : markup`<p>Somebody with an <code>operate</code> token can close it here; the command does the same:</p>
<pre class="command" tabindex="0">rampkit month close ${month}</pre>`,
  );
}

/** Open months that are listed. */
const LISTED = 24;

/** The closed months, and those that are not. */
export async function monthsPage(context: PageContext): Promise<PageParts> {
  const closed = await context.closedBooks.list();
  const open = await openMonths(context, closed);
  const present = monthAt(context.nowMs);
  return {
    title: "Months",
    here: "months",
    body: markup`<h1>Months</h1>
${
      section(
        "open",
        "Not closed",
        markup`<ul class="plain links">${
          open.map((month) =>
            markup`<li><a href="/months/${month}">${month}</a> <span class="soft">${
              month === present ? "not over yet" : "over"
            }</span></li>`
          )
        }</ul>
<p class="soft">The books of a month that is not closed are worked out from what is known now. Nothing is stored by looking.</p>`,
      )
    }
${
      section(
        "closed",
        "Closed",
        closed.length === 0 ? markup`<p>No month is closed.</p>` : table(
          "Closed months",
          [
            { title: "Month" },
            { title: "Orders", number: true },
            { title: "Gross", number: true },
            { title: "Closed" },
            { title: "Time zone" },
            { title: "Booked by" },
          ],
          closed.toReversed().map((
            { month, books, closedAt, timeZone, bookBy },
          ) => [
            markup`<a href="/months/${month}">${month}</a>`,
            books.summary.rows.order,
            grossText(books.summary),
            moment(closedAt),
            timeZone,
            bookBy,
          ]),
        ),
      )
    }`,
  };
}

/** Months without closed books since the first order, the latest first. */
async function openMonths(
  { ledger, nowMs }: PageContext,
  closed: readonly ClosedMonth[],
): Promise<string[]> {
  const { orders: [oldest] } = await ledger.orders.page({
    sort: "oldest",
    limit: 1,
  });
  const first = oldest?.createdAt ?? oldest?.activity.firstRecordedAt ?? null;
  const isClosed = new Set(closed.map(({ month }) => month));
  // Once one is closed, earlier months are booked in later ones.
  const from = closed[0]?.month ??
    (first === null ? monthAt(nowMs) : monthOf(first));
  const months: string[] = [];
  const at = new Date(nowMs);
  for (let back = 0; months.length < LISTED; back++) {
    const month = monthAt(
      Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - back),
    );
    if (back > 0 && month < from) break;
    if (!isClosed.has(month)) months.push(month);
    // Nothing before: also ends where a time of the service is absurd.
    if (back > 1200) break;
  }
  return months;
}

function monthAt(timeMs: number): string {
  return monthOf(new Date(timeMs).toISOString());
}
