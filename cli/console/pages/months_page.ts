import { closedMonths } from "../../queries/months.ts";
import type { PageContext } from "../console_parts.ts";
import { markup } from "../markup/markup.ts";
import { section, table } from "../markup/lists.ts";
import { moment } from "../markup/times.ts";
import type { PageParts } from "./layout.ts";

/** The closed months, and the open one. */
export async function monthsPage(
  { ledger, nowMs }: PageContext,
): Promise<PageParts> {
  const closed = await Array.fromAsync(closedMonths(ledger));
  const present = new Date(nowMs).toISOString().slice(0, 7);
  const rows = closed.toReversed().map((close) => [
    markup`<a href="/months/${close.month}">${close.month}</a>`,
    moment(close.closedAt),
    close.timeZone,
    close.bookBy,
    close.asOf.position,
  ]);
  return {
    title: "Months",
    here: "months",
    body: markup`<h1>Months</h1>
${
      section(
        "open",
        "Not closed",
        markup`<p><a href="/months/${present}">${present}, as the books are now</a></p>
<p class="soft">Nothing is stored by looking. <code>rampkit month close</code> closes a month that is over, for good.</p>`,
      )
    }
${
      section(
        "closed",
        "Closed",
        rows.length === 0 ? markup`<p>No month is closed.</p>` : table(
          "Closed months",
          [
            { title: "Month" },
            { title: "Closed" },
            { title: "Time zone" },
            { title: "Booked by" },
            { title: "As of position", number: true },
          ],
          rows,
        ),
      )
    }`,
  };
}
