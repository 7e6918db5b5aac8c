import type { Command } from "commander";
import {
  CLOSE_MONTH,
  MONTHS,
} from "../../../resources/operations/month_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";
import { addShow } from "./show.ts";

/** `month`: the books of a month. */
export function addMonth(program: Command, cli: Cli): void {
  const month = program.command("month")
    .summary("close the books of a month, and show closed months")
    .description(
      "the books of a month: sales confirmed by the service, closed once " +
        "and never changed",
    );
  addOperation(month, cli, CLOSE_MONTH);
  addShow(month, cli);
  addOperation(month, cli, MONTHS);
}
