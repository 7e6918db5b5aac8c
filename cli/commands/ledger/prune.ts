import type { Command } from "commander";
import { labelled } from "../../../resources/views/text.ts";
import { CommandError, UsageError } from "../../../settings/errors.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import type { Cli } from "../../program/cli.ts";
import { confirmed, type Io, jsonLine, lines, note } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { progress } from "../../program/progress.ts";
import { upToDate, withStoredLedger } from "../../program/with_ledger.ts";

interface PruneFlags extends SharedFlags {
  readonly bodiesOlderThan: number;
  readonly yes?: boolean;
}

/** How many bodies are gone, and how many that are as old stay. */
export interface PruneJson {
  /** Bodies of events before this were meant, UTC ISO 8601. */
  readonly before: string;
  /** Bodies that are gone. */
  readonly pruned: number;
  /** Bodies that are as old and stay. */
  readonly left: number;
  /** Whether the freed pages of the file were overwritten. */
  readonly cleaned: boolean;
}

const DAY_MS = 24 * 3_600_000;

/** Bodies that stay however old they are. */
const STAYING = "the latest reading of each user, and what belongs to orders " +
  "that are under way or whose refund is due";

/** `ledger prune`. */
export function addPrune(ledger: Command, cli: Cli): void {
  const command = ledger.command("prune").description(
    "delete the bodies of old events; states, books and ids stay",
  ).requiredOption(
    "--bodies-older-than <days>",
    "delete bodies recorded longer ago than this, for example 400d",
    days,
  ).option("--yes", "do not ask");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nIt can be stopped, and continues where it stopped. It keeps the latest\n" +
        "reading of each user, and the bodies of orders that are in progress or\n" +
        "have a refund due. Earlier backups and exports still hold the bodies.\n\n" +
        "Example:\n  rampkit ledger prune --bodies-older-than 400d",
    )
    .action(cli.run((flags: PruneFlags) => prune(cli.io, flags)));
}

async function prune(io: Io, flags: PruneFlags): Promise<void> {
  const before = new Date(io.now() - flags.bodiesOlderThan * DAY_MS)
    .toISOString();
  await withStoredLedger(io, flags, async (ledger) => {
    await upToDate(ledger, io);
    const old = await ledger.erasures.countOldBodies(before);
    const told = `${bodies(old)} recorded before ${before}`;
    const goesOn = old === 0 ||
      (flags.yes ?? (flags.json ? false : await confirmed(
        io,
        `${told}: delete them, except ${STAYING}? It cannot be undone. ` +
          "Type yes: ",
      )));
    if (!goesOn) {
      throw new CommandError(
        `Nothing was pruned: add --yes to delete ${told}, except ${STAYING}`,
      );
    }
    const done = await stoppable(
      io.signal,
      async () => {
        using bar = progress(io, "bodies pruned", !flags.json, old);
        const done = await ledger.erasures.prune(before, {
          signal: io.signal,
          onProgress: (pruned) => bar.at(pruned),
        });
        bar.end();
        return done;
      },
      () => "what was pruned is; run it again and it goes on where it stopped",
    );
    await ledger.project({ signal: io.signal });
    let cleaned = false;
    if (done.pruned > 0) {
      note(
        io,
        "Writing the file anew, so that no page holds what was pruned ...",
      );
      cleaned = await ledger.erasures.clean();
    }
    const json: PruneJson = { before, ...done, cleaned };
    if (flags.json) return jsonLine(io, json);
    lines(io, pruneLines(json, io.columns));
  });
}

/** What was pruned, for people. */
function pruneLines(
  { before, pruned, left, cleaned }: PruneJson,
  columns: number | null,
): string[] {
  if (pruned + left === 0) {
    return [`Nothing to prune: no body was recorded before ${before}`];
  }
  return labelled([
    ["Pruned", `${bodies(pruned)} recorded before ${before}`],
    ["Left", left === 0 ? null : `${left} as old: ${STAYING}`],
    [
      "File",
      pruned === 0
        ? null
        : cleaned
        ? "written anew, its log emptied"
        : "on a server: see RUNBOOK, A person asks to be erased",
    ],
  ], columns);
}

function bodies(count: number): string {
  return `${count} ${count === 1 ? "body" : "bodies"}`;
}

/** Days as `400d`. */
function days(text: string): number {
  const [, number] = /^([1-9]\d{0,4})d$/.exec(text) ?? [];
  if (number === undefined) {
    throw new UsageError(
      `Wrong --bodies-older-than: "${text}" is not a number of days; write ` +
        "for example 400d",
    );
  }
  return Number(number);
}
