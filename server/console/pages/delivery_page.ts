import type { DeliveryHealth } from "../../../sync/mod.ts";
import { readRefusedRequests } from "../../../sync/check/drift.ts";
import {
  deliveriesPage,
  deliveryDetail,
} from "../../../resources/queries/deliveries.ts";
import { REFUSALS } from "../../../resources/wording/poll_failure.ts";
import type { PageContext } from "../context/page_context.ts";
import { deliveryFinding } from "../../../resources/health/stored_health.ts";
import { styleOf } from "../health/health_bar.ts";
import {
  code,
  facts,
  type Markup,
  markup,
  outside,
  prose,
  section,
  sentence,
  table,
  when,
} from "../markup/markup.ts";
import { deliveryTable, orderLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";
import { printableLines } from "../../../core/text.ts";
import { userPath } from "../../../resources/views/text.ts";

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

/** More of a body than this is not shown. */
const SHOWN = 100_000;

/** A delivery with its body as it came. */
export async function bodyPage(
  { ledger, nowMs }: PageContext,
  id: string,
): Promise<PageParts | null> {
  const found = await deliveryDetail(ledger, id);
  if (found === null) return null;
  const { text, base64, bytes, reasons } = found;
  const body = text ?? base64;
  return {
    title: "Delivery",
    body: markup`<p class="crumb">Delivery ${code(found.id)}</p>
<h1>A webhook as it came</h1>
${
      section(
        "about",
        "About it",
        facts([
          ["Received", when(found.receivedAt, nowMs)],
          ["Type", outside(found.type)],
          [
            "Quarantined",
            found.quarantined && "yes: it is not a JSON object with a type",
          ],
          [
            "Odd",
            reasons.slice(0, 20).map((why) =>
              markup`<span>${sentence(why)}</span><br>`
            ),
          ],
          ["Order", found.orderId !== null && orderLink(found.orderId)],
          [
            "User",
            found.userId !== null &&
            markup`<a href="${userPath(found.userId)}">${
              code(found.userId)
            }</a>`,
          ],
          ["Place in the ledger", found.position],
          ["Length", bytes !== null && `${bytes} bytes`],
        ]),
      )
    }
${
      section(
        "body",
        text === null && base64 !== null ? "Body, in Base64" : "Body",
        body === null
          ? markup`<p>It was erased.</p>`
          : markup`<pre tabindex="0" aria-label="Body"><bdi>${
            printableLines(body.slice(0, SHOWN))
          }</bdi></pre>${
            body.length > SHOWN &&
            markup`
              <p
                class="soft">This is the beginning: <code>rampkit deliveries show</code> prints all of it.</p>
            `
          }`,
      )
    }`,
  };
}
