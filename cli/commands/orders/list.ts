import { type Command, Option } from "commander";
import { defined } from "../../../core/defined.ts";
import type { Cli } from "../../program/cli.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/note_waiting.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { printList } from "../../views/list.ts";
import { orderJson, orderTable } from "../../views/order_view.ts";
import {
  checkFilters,
  filterOptions,
  filterQuery,
  type OrderFilters,
} from "./filters.ts";

interface ListFlags extends SharedFlags, OrderFilters {
  readonly trust?: "claimed" | "confirmed";
  readonly limit?: number;
}

/** `orders list`. */
export function addList(orders: Command, cli: Cli): void {
  const command = orders.command("list").description(
    "list orders, newest first",
  );
  limitOption(filterOptions(ledgerOptions(command)), "orders").addOption(
    new Option("--trust <trust>", "only orders of this trust").choices([
      "claimed",
      "confirmed",
    ]),
  );
  jsonOption(command, "one object a line")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders list --status pending --limit 20",
    )
    .action(cli.run(async (flags: ListFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        await noteWaiting(ledger, cli.io, flags);
        await checkFilters(ledger, flags);
        const orders = ledger.orders.list(
          defined({ ...filterQuery(flags), trust: flags.trust }),
        );
        await printList(cli.io, flags, orders, {
          none: "No orders match",
          json: orderJson,
          table: orderTable,
        });
      });
    }));
}
