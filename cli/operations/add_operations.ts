import type { Command } from "commander";
import { OPERATIONS } from "../../resources/operations/mod.ts";
import type { Cli } from "../program/cli.ts";
import { addOperation } from "./operation_command.ts";

/** Commands that have others below them: in few words, and in more. */
const GROUPS: Readonly<Record<string, readonly [string, string?]>> = {
  orders: [
    "list, show, explain and export orders",
    "what the ledger knows of orders",
  ],
  users: ["list, show and erase users", "what the ledger knows of users"],
  month: [
    "close the books of a month, and show closed months",
    "the books of a month: sales confirmed by the service, closed once and " +
    "never changed",
  ],
  session: ["create widget sessions"],
  ledger: ["verify, back up, export, move and refold the ledger"],
  deliveries: [
    "list and show webhook deliveries",
    "what the endpoint received, with the exact bytes of each body",
  ],
  subscriptions: [
    "show what your handlers and targets received",
    "what your handlers and targets received, and which deliveries failed",
  ],
  webhook: ["send, replay and read webhook bodies"],
};

/**
 * Adds the command of a name with what operations do under it, or the commands
 * below it.
 */
export function addOperations(
  program: Command,
  cli: Cli,
  name: string,
): Command {
  const [summary, description = summary] = GROUPS[name] ?? [];
  const parent = summary === undefined
    ? program
    : program.command(name).summary(summary).description(description ?? "");
  // Without Map.groupBy: Node 20 gets as far as saying that it is too old.
  for (const command of new Set(OPERATIONS.map(({ command }) => command))) {
    const isHere = parent === program
      ? command === name
      : command?.startsWith(`${name} `);
    const [first, ...others] = OPERATIONS.filter((one) =>
      one.command === command
    );
    if (isHere && first !== undefined) {
      addOperation(parent, cli, first, ...others);
    }
  }
  return parent;
}
