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
    "see what your handlers and targets were told",
  ).description(
    "what your handlers and targets were told, and which deliveries failed",
  );
  for (const add of [addList, addRetry, addDrop, addResume, addFire]) {
    add(subscriptions, cli);
  }
}
