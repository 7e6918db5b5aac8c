import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { addBackup, addRestore } from "./backup.ts";
import { addExport, addImport } from "./export.ts";
import { addPrune } from "./prune.ts";
import { addRefold } from "./refold.ts";
import { addStats } from "./stats.ts";
import { addVerify } from "./verify.ts";

/** `ledger`: check it, copy it, fold it again. */
export function addLedger(program: Command, cli: Cli): void {
  const ledger = program.command("ledger").summary(
    "verify, copy, export and refold the ledger",
  ).description(
    "verify, copy, export and refold the ledger",
  );
  for (
    const add of [
      addVerify,
      addStats,
      addRefold,
      addPrune,
      addExport,
      addImport,
      addBackup,
      addRestore,
    ]
  ) add(ledger, cli);
}
