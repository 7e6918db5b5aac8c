import type { Command } from "commander";
import { USER, USERS } from "../../../resources/operations/user_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";
import { addErase } from "./erase.ts";
import { addErased } from "./erased.ts";

/** `users`: what the ledger knows of them. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").summary("list, show and erase users")
    .description("what the ledger knows of users");
  for (const operation of [USERS, USER]) addOperation(users, cli, operation);
  for (const add of [addErase, addErased]) add(users, cli);
}
