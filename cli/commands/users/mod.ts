import type { Command } from "commander";
import {
  ERASE_USER,
  ERASED_USERS,
  USER,
  USERS,
} from "../../../resources/operations/user_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";

/** `users`: what the ledger knows of them. */
export function addUsers(program: Command, cli: Cli): void {
  const users = program.command("users").summary("list, show and erase users")
    .description("what the ledger knows of users");
  for (const operation of [USERS, USER, ERASE_USER, ERASED_USERS]) {
    addOperation(users, cli, operation);
  }
}
