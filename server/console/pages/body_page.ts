import { deliveryDetail } from "../../../resources/queries/deliveries.ts";
import { printableLines } from "../../../core/printable.ts";
import type { PageContext } from "../context/page_context.ts";
import { facts, markup, section } from "../markup/markup.ts";
import { code, outside, sentence } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import { userPath } from "../../../resources/views/page_paths.ts";
import { orderLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

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
