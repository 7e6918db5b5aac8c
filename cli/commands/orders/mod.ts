import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addExplain } from "./explain.ts";
import { addExport } from "./export.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";

/** `orders`: what the ledger knows of them. */
export function addOrders(program: Command, cli: Cli): void {
  const orders = program.command("orders").summary(
    "list, show, explain and export orders",
  ).description("what the ledger knows of orders");
  for (const add of [addList, addShow, addExplain, addExport]) add(orders, cli);
}
