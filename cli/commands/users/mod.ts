import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addErase } from "./erase.ts";
import { addErased } from "./erased.ts";
import { addList, addShow } from "./list.ts";

/** `users`: what the ledger knows of them. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").summary("list, show and erase users")
    .description("what the ledger knows of users");
  for (const add of [addList, addShow, addErase, addErased]) add(users, cli);
}
