import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addMatch } from "./match.ts";

/** `statement`: the books beside those of others. */
export function addStatement(program: Command, cli: Cli): void {
  const statement = program.command("statement")
    .summary("match a statement of the service or a bank with the books")
    .description(
      "statements of the service or a bank, matched with the books of a month",
    );
  addMatch(statement, cli);
}
