import {
  checkStatus,
  ORDER_FILTER_NAMES,
  ORDER_FILTERS,
  type OrderFilterName,
  readFilters,
} from "../../../resources/queries/order_filters.ts";
import { ordersPage as listedOrders } from "../../../resources/queries/orders.ts";
import { ATTENTION } from "../../../resources/wording/attention.ts";
import { RELEASE, RELEASE_REASON } from "../../../resources/wording/release.ts";
import { UsageError } from "../../../settings/errors.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, section } from "../markup/markup.ts";
import { sentence } from "../markup/outside.ts";
import { orderTable } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Orders of one page. */
const ORDERS = 50;

/** Gives what the address says of a filter, or `after`. */
type Address = (name: OrderFilterName | "after") => string | undefined;

/** The orders, newest first, chosen by the filters that the address has. */
export async function ordersPage(
  context: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(address);
  return {
    title: "Orders",
    here: "orders",
    body: markup`<h1>Orders</h1>
<form class="row filter" action="/orders" method="get">${
      ORDER_FILTER_NAMES.map((name) => field(name, chosen[name] ?? ""))
    }<button>Show</button></form>
${await listed(context, chosen, address("after"))}`,
  };
}

/** The texts of the filters that the address has. */
function chosenBy(
  address: Address,
): Readonly<Partial<Record<OrderFilterName, string>>> {
  return Object.fromEntries(
    ORDER_FILTER_NAMES.map((name) => [name, address(name)?.trim() ?? ""])
      .filter(([, text]) => text !== ""),
  );
}

async function listed(
  { ledger, nowMs }: PageContext,
  chosen: Readonly<Partial<Record<OrderFilterName, string>>>,
  after: string | undefined,
): Promise<Markup> {
  try {
    const filters = readFilters((name) => chosen[name]);
    await checkStatus(ledger, "status", filters.status);
    const { items, next } = await listedOrders(ledger, {
      ...filters,
      limit: ORDERS,
      ...(after === undefined ? {} : { cursor: after }),
    }, nowMs);
    const onward = next !== null &&
      markup`<p><a class="button" href="/orders?${
        new URLSearchParams({ ...chosen, after: next }).toString()
      }">Earlier orders</a></p>`;
    return section(
      "orders",
      "Newest first",
      markup`${orderTable("Orders", items, nowMs)}${onward}`,
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return section(
      "orders",
      "Nothing is listed",
      markup`<p role="alert">${sentence(error.message)}</p>`,
    );
  }
}

/** What the words of a filter mean, where that is said somewhere. */
const MEANINGS: Partial<
  Record<OrderFilterName, Readonly<Record<string, string>>>
> = {
  attention: ATTENTION,
  release: RELEASE,
  reason: RELEASE_REASON,
};

/** One filter of the form: a choice of its words, or any text. */
function field(name: OrderFilterName, text: string): Markup {
  const { description, schema } = ORDER_FILTERS[name];
  const input = Array.isArray(schema.enum)
    ? markup`<select id="${name}" name="${name}"><option value="">any</option>${
      schema.enum.map((word: string) =>
        markup`<option value="${word}" title="${
          MEANINGS[name]?.[word] ?? ""
        }" ${word === text && "selected"}>${
          word === "true" ? "of any kind" : word.replaceAll("_", " ")
        }</option>`
      )
    }</select>`
    : markup`<input id="${name}" name="${name}" value="${text}" title="${description}" size="14">`;
  return markup`<label for="${name}">${
    name.charAt(0).toUpperCase() + name.slice(1)
  }</label>
${input}
`;
}
