import type { PageContext } from "../context/page_context.ts";
import {
  brief,
  code,
  type Markup,
  markup,
  moment,
  outsideText,
  table,
} from "../markup/markup.ts";
import { orderLink, releaseBadge } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";
import {
  type FindJson,
  findJson,
  searchedText,
} from "../../../resources/queries/find.ts";
import type { FoundJson } from "../../../resources/views/attention_view.ts";
import {
  CLAIMED_MATCH,
  foundField,
  NOT_TOLD,
  recordedText,
} from "../../../resources/wording/phrases.ts";
import { orderPath, userPath } from "../../../resources/views/text.ts";

/** No identifier is longer. */
const LONGEST = 500;

/** What a text leads to. */
export async function searchPage(
  { ledger, nowMs }: PageContext,
  text: string,
): Promise<PageParts | string> {
  const searched = text.trim().slice(0, LONGEST);
  if (searched === "") return "/";
  const { items, more, recorded } = await findJson(ledger, searched, nowMs);
  const [first, ...others] = items;
  if (first !== undefined && others.length === 0) return pathOf(first);
  return {
    title: "Search",
    searched,
    body: first === undefined
      ? nothing(searched, recorded)
      : several(items, more),
  };
}

function pathOf({ order, user }: FoundJson): string {
  return order !== null
    ? orderPath(order.orderId)
    : userPath(user?.userId ?? "");
}

function nothing(
  searched: string,
  [recorded]: FindJson["recorded"],
): Markup {
  return markup`<h1>Nothing found for <bdi>${
    outsideText(searched, 100)
  }</bdi></h1>
${
    recorded !== undefined &&
    markup`<p>${outsideText(recordedText(recorded), 1_000)}.</p>`
  }
${
    searchedText(searched).isContact &&
    markup`<p class="notice"><strong>${NOT_TOLD}</strong></p>`
  }
<p>An order is found by its id, external id, your own reference, click id,
session, transaction, wallet address or card id; a user by the user id. A link to
an explorer will do, and so will a hash that was shortened.
Capital letters do not matter. The first four characters of an order id,
external id or reference are enough, and six of anything else.</p>
<p class="soft">An order that is minutes old may not have been read yet. Look at
the health bar: do webhooks come, and is the service asked?</p>`;
}

function several(items: readonly FoundJson[], more: boolean): Markup {
  return markup`<h1>${items.length}${more && " of more"} found</h1>
${more && markup`<p>More than these match; narrow your search.</p>`}
<section>${
    table(
      "What was found",
      [
        { title: "Order or user" },
        { title: "Release" },
        { title: "Found by" },
        { title: "Created" },
        { title: "Outcome", sentence: true },
      ],
      items.map((found) => {
        const { order, user, matches } = found;
        // The ids stand in the first column.
        const by = matches.map(({ field, value, trust }, at) =>
          markup`${at > 0 && markup`<br>`}${foundField(field)}${
            field !== "orderId" && field !== "userId" &&
            markup` ${code(value)}`
          }${trust === "claimed" && ` (${CLAIMED_MATCH})`}`
        );
        return order !== null
          ? [
            orderLink(order.orderId),
            releaseBadge(order.release),
            by,
            moment(order.createdAt),
            brief(order.outcome.message),
          ]
          : [
            markup`<a href="${pathOf(found)}">User ${
              code(user?.userId ?? "")
            }</a>`,
            "",
            by,
            moment(user?.createdAt ?? null),
            brief(user?.verdict.message ?? ""),
          ];
      }),
    )
  }</section>`;
}
