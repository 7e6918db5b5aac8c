import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";

/** `users`: what the ledger knows of them. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").summary("list and show users")
    .description("what the ledger knows of users");
  for (const add of [addList, addShow]) add(users, cli);
}
