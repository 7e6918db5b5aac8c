import {
  deliveriesPage as listedDeliveries,
  DELIVERY_FILTERS,
} from "../../../resources/queries/deliveries.ts";
import { minuteText } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import { markup, section } from "../markup/markup.ts";
import { deliveryTable } from "../parts/order_table.ts";
import {
  type Address,
  chosenBy,
  type FilteredList,
  listForm,
  ofFilters,
  onward,
  sameCommand,
} from "../parts/list_form.ts";
import type { PageParts } from "./layout.ts";

/** Deliveries of one page. */
const DELIVERIES = 50;

const LIST: FilteredList = {
  path: "/deliveries",
  command: "deliveries list",
  filters: DELIVERY_FILTERS,
  first: Object.keys(DELIVERY_FILTERS),
};

/** The deliveries that the filters of the address choose. */
export async function deliveriesPage(
  { ledger }: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(LIST, address);
  const after = address("after");
  return {
    title: "Deliveries",
    here: "delivery",
    follows: "list",
    body: markup`<h1>Deliveries</h1>
<p><a href="/delivery">Do webhooks come?</a></p>
${listForm(LIST, chosen)}
${await ofFilters(DELIVERY_FILTERS, chosen, async (filters) => {
      const { items, next, searchedTo } = await listedDeliveries(ledger, {
        ...filters,
        limit: DELIVERIES,
        ...(after === undefined ? {} : { cursor: after }),
      });
      return section(
        "list",
        "Newest first",
        markup`${
          // More may match further on.
          (items.length > 0 || searchedTo === null) && deliveryTable(items)}${
          onward(LIST, chosen, {
            after,
            next,
            searchedTo: searchedTo && `back to ${minuteText(searchedTo)} UTC`,
          })
        }
${sameCommand(LIST.command, chosen)}`,
      );
    })}`,
  };
}
