import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addDrop } from "./drop.ts";
import { addFire } from "./fire.ts";
import { addList } from "./list.ts";
import { addResume } from "./resume.ts";
import { addRetry } from "./retry.ts";

/** `subscriptions`: how the delivery to handlers goes. */
export function addSubscriptions(program: Command, cli: Cli): void {
  const subscriptions = program.command("subscriptions").summary(
    "show what your handlers and targets received",
  ).description(
    "what your handlers and targets received, and which deliveries failed",
  );
  for (const add of [addList, addRetry, addDrop, addResume, addFire]) {
    add(subscriptions, cli);
  }
}
