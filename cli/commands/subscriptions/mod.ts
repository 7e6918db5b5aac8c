import type { Command } from "commander";
import {
  DROP,
  RESUME,
  RETRY,
  STOP,
  SUBSCRIPTIONS,
} from "../../../resources/operations/subscription_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";
import { addFire } from "./fire.ts";

/** `subscriptions`: how the delivery to handlers goes. */
export function addSubscriptions(program: Command, cli: Cli): void {
  const subscriptions = program.command("subscriptions").summary(
    "show what your handlers and targets received",
  ).description(
    "what your handlers and targets received, and which deliveries failed",
  );
  for (const operation of [SUBSCRIPTIONS, RETRY, DROP, STOP, RESUME]) {
    addOperation(subscriptions, cli, operation);
  }
  addFire(subscriptions, cli);
}
