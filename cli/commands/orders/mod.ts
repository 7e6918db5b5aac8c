import type { Command } from "commander";
import {
  EXPLANATION,
  ORDER,
  ORDER_AS_OF,
  ORDER_TOTALS,
  ORDERS,
} from "../../../resources/operations/order_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";
import { addExport } from "./export.ts";

/** `orders`: what the ledger knows of them. */
export function addOrders(program: Command, cli: Cli): void {
  const orders = program.command("orders").summary(
    "list, show, explain and export orders",
  ).description("what the ledger knows of orders");
  addOperation(orders, cli, ORDERS);
  addOperation(orders, cli, ORDER_TOTALS);
  addOperation(orders, cli, ORDER);
  addOperation(orders, cli, EXPLANATION, ORDER_AS_OF);
  addExport(orders, cli);
}
