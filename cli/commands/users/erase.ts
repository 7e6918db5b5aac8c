import type { Command } from "commander";
import type { Ledger } from "../../../ledger/mod.ts";
import type { Cli } from "../../program/cli.ts";
import { confirmed } from "../../program/confirm.ts";
import { CommandError } from "../../program/exit_codes.ts";
import { type Io, jsonLine, lines, note } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { upToDate, withStoredLedger } from "../../program/with_ledger.ts";
import {
  erasedLines,
  erasureJson,
  NOT_REACHED,
  planLines,
} from "./erasure_view.ts";

interface EraseFlags extends SharedFlags {
  readonly yes?: true;
  readonly force?: boolean;
}

/** `users erase`. */
export function addErase(users: Command, cli: Cli): void {
  const command = users.command("erase").argument("<id>", "user id")
    .description(
      "forget a person: show what goes, ask, and erase it; orders stay " +
        "without names",
    )
    .option("--yes", "do not ask")
    .option("--force", "also while an order is under way or a refund is due");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nWith --json and without --yes nothing is erased. What stays out of " +
        "reach:\n" + NOT_REACHED.map((one) => `  ${one}\n`).join("") +
        "\nExample:\n  rampkit users erase 01KA00000000000000000000",
    )
    .action(cli.run(async (id: string, flags: EraseFlags) => {
      await withStoredLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        await erase(cli.io, ledger, id, flags);
      });
    }));
}

async function erase(
  io: Io,
  ledger: Ledger,
  userId: string,
  { yes, force = false, json }: EraseFlags,
): Promise<void> {
  const plan = await ledger.erasures.plan(userId);
  const before = await ledger.erasures.find(userId);
  if (plan.orders.length === 0 && Object.keys(plan.events).length === 0) {
    if (before === null) {
      throw new CommandError(
        `No such user: no event of the ledger names "${userId}"; what was ` +
          "posted as no JSON is listed by `deliveries list --quarantined`",
        "not_found",
      );
    }
    // A kill may have come between the erasure and this.
    const cleaned = await clean(io, ledger);
    const again = { ...plan, pseudonym: null, erased: true, cleaned };
    if (json) return jsonLine(io, erasureJson(again));
    return lines(io, erasedLines(again, before, io.columns));
  }
  if (!json) lines(io, planLines(plan, io.columns));
  const blocked = plan.orders.some(({ blocks }) => blocks.length > 0);
  if (blocked && !force && (yes || !json)) {
    throw new CommandError(
      "Nothing was erased: an order is under way or a refund is due; wait for " +
        "it, or add --force",
    );
  }
  const goesOn = yes ?? (json ? false : await confirmed(
    io,
    "Erase this person? It cannot be undone. Type yes: ",
  ));
  if (!goesOn) {
    const nothing = { ...plan, pseudonym: null, erased: false, cleaned: false };
    if (json) return jsonLine(io, erasureJson(nothing));
    throw new CommandError(
      "Nothing was erased: add --yes where nobody can be asked",
    );
  }
  const done = await ledger.erasures.erase(userId, { force });
  await ledger.project({ signal: io.signal });
  const erasure = { ...done, erased: true, cleaned: await clean(io, ledger) };
  if (json) return jsonLine(io, erasureJson(erasure));
  lines(io, erasedLines(erasure, null, io.columns));
}

/** Takes out of the file what was deleted; says so where it cannot. */
async function clean(io: Io, ledger: Ledger): Promise<boolean> {
  note(io, "Writing the file anew, so that no page holds what was erased ...");
  return await ledger.erasures.clean();
}
