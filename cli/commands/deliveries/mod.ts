import type { Command } from "commander";
import {
  DELIVERIES,
  DELIVERY,
} from "../../../resources/operations/delivery_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";

/** `deliveries`: what the endpoint received. */
export function addDeliveries(program: Command, cli: Cli): void {
  const deliveries = program.command("deliveries").summary(
    "list and show webhook deliveries",
  ).description(
    "what the endpoint received, with the exact bytes of each body",
  );
  addOperation(deliveries, cli, DELIVERIES);
  addOperation(deliveries, cli, DELIVERY);
}
