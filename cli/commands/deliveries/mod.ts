import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";

/** `deliveries`: what the endpoint received. */
export function addDeliveries(program: Command, cli: Cli): void {
  const deliveries = program.command("deliveries").summary(
    "list and show webhook deliveries",
  ).description(
    "what the endpoint received, with the exact bytes of each body",
  );
  for (const add of [addList, addShow]) add(deliveries, cli);
}
