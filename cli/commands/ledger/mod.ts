import type { Command } from "commander";
import {
  LEDGER_STATS,
  PRUNE,
  REFOLD,
  VERIFY,
} from "../../../resources/operations/ledger_operations.ts";
import type { Cli } from "../../program/cli.ts";
import { addOperation } from "../../program/operation_command.ts";
import { addBackup, addRestore } from "./backup.ts";
import { addCopy } from "./copy.ts";
import { addExport, addImport } from "./export.ts";

/** `ledger`: check it, copy it, fold it again. */
export function addLedger(program: Command, cli: Cli): void {
  const ledger = program.command("ledger").summary(
    "verify, copy, export and refold the ledger",
  ).description(
    "verify, copy, export and refold the ledger",
  );
  for (const operation of [LEDGER_STATS, VERIFY, REFOLD, PRUNE]) {
    addOperation(ledger, cli, operation);
  }
  for (
    const add of [
      addExport,
      addImport,
      addBackup,
      addRestore,
      addCopy,
    ]
  ) add(ledger, cli);
}
