import type { DeliveryHealth } from "../../../sync/mod.ts";
import { readRefusedRequests } from "../../../sync/check/drift.ts";
import { deliveriesPage } from "../../../resources/queries/deliveries.ts";
import { REFUSALS } from "../../../resources/wording/poll_failure.ts";
import type { PageContext } from "../context/page_context.ts";
import { deliveryFinding } from "../../../resources/health/delivery_health.ts";
import { styleOf } from "../health/health_bar.ts";
import { type Markup, markup, section, table } from "../markup/markup.ts";
import { code, prose } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { deliveryTable } from "../parts/delivery_table.ts";
import { orderLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Deliveries that are shown: a page of its own lists all. */
const DELIVERIES = 10;

/** Whether webhooks come, what came last, and what was refused. */
export async function deliveryPage(
  context: PageContext,
): Promise<PageParts> {
  const { ledger, nowMs } = context;
  const health = await context.delivery.value();
  const { items } = await deliveriesPage(ledger, { limit: DELIVERIES });
  return {
    title: "Delivery",
    here: "delivery",
    body: markup`<h1>Delivery of webhooks</h1>
${section("state", "Do webhooks come?", state(context, health))}
${section("refused", "Refused requests", await refused(ledger.driver, nowMs))}
${
      section(
        "recent",
        "What came last",
        markup`${deliveryTable(items)}
<p class="row"><a class="button" href="/deliveries">All deliveries</a>
<a class="button" href="/deliveries?quarantined=true">Those that cannot be read</a></p>`,
      )
    }`,
  };
}

/** What the watchdog sees, how long is left, and how to read again. */
function state(context: PageContext, health: DeliveryHealth): Markup {
  const { nowMs } = context;
  const { level, detail, since, next } = deliveryFinding(health);
  const { countdown, silentOrderIds } = health;
  const from = countdown?.firstFailureAt ?? health.since;
  return markup`<p class="${styleOf(level)}"><strong>${
    prose(detail)
  }.</strong> ${since !== null && markup`Since ${when(since, nowMs)}.`}</p>
${next !== null && markup`<p>${prose(next)}.</p>`}
${
    from !== null &&
    markup`<p>Once delivery is on again, read what was missed:</p>
<pre class="command" id="recover" tabindex="0">rampkit recover --from ${from}</pre>
<p><button type="button" data-copy="recover" hidden>Copy</button></p>`
  }
${
    silentOrderIds.length > 0 &&
    markup`<p>Orders that moved without a webhook: ${
      silentOrderIds.map((id) => markup`${orderLink(id)} `)
    }</p>`
  }`;
}

async function refused(
  driver: Parameters<typeof readRefusedRequests>[0],
  nowMs: number,
): Promise<Markup> {
  const reasons = Object.entries(await readRefusedRequests(driver));
  if (reasons.length === 0) {
    return markup`<p>The endpoint refused no request lately.</p>`;
  }
  return table(
    "Refused requests",
    [
      { title: "Why" },
      { title: "How many", number: true },
      { title: "Last" },
      { title: "What to do" },
    ],
    reasons.map(([reason, { count, lastAt }]) => [
      code(reason),
      count,
      when(lastAt, nowMs),
      REFUSALS[reason] ?? "",
    ]),
  );
}
