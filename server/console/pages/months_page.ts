import { monthOf } from "../../../ledger/for_server.ts";
import type { PageContext } from "../context/page_context.ts";
import type { ClosedMonth } from "../context/closed_books.ts";
import { markup, section, table } from "../markup/markup.ts";
import { moment } from "../markup/times.ts";
import { grossText } from "../parts/month_tables.ts";
import type { PageParts } from "./layout.ts";

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
