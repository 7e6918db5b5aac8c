import { lower } from "../../../resources/views/text.ts";
import { type Command, Option } from "commander";
import type { Cli } from "../../program/cli.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  orderedWindow,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/progress.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { printList } from "../../program/list.ts";
import { orderJson, orderTable } from "../../../resources/views/order_view.ts";
import {
  checkStatus,
  ORDER_FILTER_NAMES,
  ORDER_FILTERS,
  type OrderFilterName,
  type OrderFilters,
  orderQuery,
} from "../../../resources/queries/order_filters.ts";

interface ListFlags extends SharedFlags, OrderFilters {
  readonly limit?: number;
}

/** `orders list`. */
export function addList(orders: Command, cli: Cli): void {
  const command = orders.command("list").description(
    "list orders, newest first",
  );
  limitOption(filterOptions(ledgerOptions(command)), "orders");
  jsonOption(command, "one object a line")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders list --status pending --limit 20",
    )
    .action(cli.run(async (flags: ListFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        await noteWaiting(ledger, cli.io, flags);
        await checkStatus(ledger, "--status", flags.status);
        const orders = ledger.orders.list(orderQuery(flags));
        await printList(cli.io, flags, orders, {
          none: "No orders match",
          json: (order) => orderJson(order, cli.io.now()),
          table: orderTable,
        });
      });
    }));
}

/** So many words are listed in the help and completed by a shell. */
const SHOWN = 4;

/**
 * Adds the flags that choose orders.
 *
 * @param except A filter that the command does not have, or not as a filter.
 */
export function filterOptions(
  command: Command,
  except?: OrderFilterName,
): Command {
  for (const name of ORDER_FILTER_NAMES) {
    if (name === except) continue;
    const { operand, description, schema, read } = ORDER_FILTERS[name];
    const flag = new Option(
      `--${name} ${operand}`,
      lower(description),
    );
    const words = Array.isArray(schema.enum) ? schema.enum : [];
    if (words.length > 0 && words.length <= SHOWN) flag.choices(words);
    command.addOption(
      flag.argParser((text: string): unknown => read(`--${name}`, text)),
    );
  }
  return orderedWindow(command);
}
