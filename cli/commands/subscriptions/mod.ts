import type { Command } from "commander";
import {
  DROP,
  FIRE,
  FIRE_HISTORY,
  RESUME,
  RETRY,
  STOP,
  SUBSCRIPTIONS,
  UNFIRED,
} from "../../../resources/operations/subscription_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";

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
  addOperation(subscriptions, cli, UNFIRED, FIRE, FIRE_HISTORY);
}
