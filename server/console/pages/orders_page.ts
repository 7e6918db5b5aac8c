import {
  checkStatus,
  ORDER_FILTERS,
  orderQuery,
  ordersPage as listedOrders,
  readFilters,
} from "../../../resources/queries/orders.ts";
import { orderExport } from "../../../resources/views/order_export.ts";
import { textStream } from "../../http/http_app.ts";
import { ATTENTION } from "../../../resources/wording/outcome.ts";
import { RELEASE, RELEASE_REASON } from "../../../resources/wording/release.ts";
import { minuteText } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, section } from "../markup/markup.ts";
import {
  type Address,
  BY_TIME,
  type Chosen,
  chosenBy,
  type FilteredList,
  headingOf,
  listForm,
  listPath,
  ofFilters,
  onward,
  sameCommand,
  sortLink,
  sortOf,
} from "../parts/list_form.ts";
import { orderTable, orderTotals, soonTotals } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Orders of one page. */
const ORDERS = 50;

const LIST: FilteredList = {
  path: "/orders",
  command: "orders list",
  filters: ORDER_FILTERS,
  first: [
    ...["status", "release", "outcome", "asset", "network", "currency"],
    ...["min", "max", "day", "user", "reference"],
  ],
  meanings: {
    attention: ATTENTION,
    release: RELEASE,
    reason: RELEASE_REASON,
  },
  sorts: BY_TIME,
};

/** The orders that the filters of the address choose, and their sum. */
export async function ordersPage(
  context: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(LIST, address);
  return {
    title: "Orders",
    here: "orders",
    follows: "list",
    body: markup`<h1>Orders</h1>
${listForm(LIST, chosen)}
${await listed(context, chosen, address("after"))}`,
  };
}

function listed(
  { ledger, nowMs, orderTotals: totals }: PageContext,
  chosen: Chosen,
  after: string | undefined,
): Promise<Markup> {
  return ofFilters(ORDER_FILTERS, chosen, async (filters) => {
    await checkStatus(ledger, "status", filters.status);
    const sort = sortOf(BY_TIME, chosen);
    const { items, next, searchedTo } = await listedOrders(ledger, {
      ...filters,
      sort,
      limit: ORDERS,
      ...(after === undefined ? {} : { cursor: after }),
    }, nowMs);
    const sum = await totals.soon(orderQuery(filters));
    return section(
      "list",
      headingOf(BY_TIME[sort]),
      markup`${soonTotals(sum, listPath("/orders/totals", chosen))}
${
        // More may match further on.
        (items.length > 0 || searchedTo === null) &&
        orderTable("Orders", items, nowMs, {
          created: sortLink(LIST, chosen, ["newest", "oldest"]),
        })}${
        onward(LIST, chosen, {
          after,
          next,
          searchedTo: searchedTo &&
            `${sort === "newest" ? "back" : "up"} to ${
              minuteText(searchedTo)
            } UTC`,
        })
      }
${sameCommand(LIST.command, chosen)}
<p class="row"><a class="button" href="${
        listPath("/orders.csv", chosen)
      }" download>All of them as CSV</a></p>`,
    );
  });
}

/** The sum of what the address chooses. */
export async function totalsPage(
  { orderTotals: totals }: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(LIST, address);
  return {
    title: "Sum of orders",
    here: "orders",
    body: markup`<h1>Sum of orders</h1>
${await ofFilters(
      ORDER_FILTERS,
      chosen,
      async (filters) => orderTotals(await totals.of(orderQuery(filters))),
    )}
<p><a href="${listPath("/orders", chosen)}">The orders</a></p>`,
  };
}

/**
 * The orders that the address chooses as CSV, as `orders export --trust all`
 * writes them.
 *
 * @throws {UsageError} When a filter is wrong.
 */
export function ordersCsv(
  { ledger, nowMs }: Pick<PageContext, "ledger" | "nowMs">,
  address: Address,
): ReadableStream<Uint8Array> {
  const chosen = chosenBy(LIST, address);
  const filters = readFilters(ORDER_FILTERS, (name) => chosen[name]);
  const orders = ledger.orders.list({
    ...orderQuery(filters),
    stuckAtMs: nowMs,
    sort: sortOf(BY_TIME, chosen),
  });
  return textStream(
    orderExport(orders, { format: "csv", totals: false, nowMs }),
  );
}
