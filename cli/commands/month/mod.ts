import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addClose } from "./close.ts";
import { addList } from "./list.ts";
import { addShow } from "./show.ts";

/** `month`: the books of a month. */
export function addMonth(program: Command, cli: Cli): void {
  const month = program.command("month")
    .summary("close the books of a month, and show closed months")
    .description(
      "the books of a month: sales confirmed by the service, closed once " +
        "and never changed",
    );
  for (const add of [addClose, addShow, addList]) add(month, cli);
}
