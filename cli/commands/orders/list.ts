import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/note_waiting.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { printList } from "../../program/list.ts";
import { orderJson, orderTable } from "../../../resources/views/order_view.ts";
import {
  checkStatus,
  type OrderFilters,
  orderQuery,
} from "../../../resources/queries/order_filters.ts";
import { filterOptions } from "./filters.ts";

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
