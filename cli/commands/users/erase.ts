import type { Command } from "commander";
import { messageOf } from "../../../core/guards.ts";
import { printable } from "../../../core/printable.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import {
  erasedLines,
  erasureJson,
  NOT_REACHED,
  planLines,
} from "../../../resources/views/erasure_view.ts";
import { counted } from "../../../resources/views/text.ts";
import { drainLeft } from "../../../server/ledger_file/left_segments.ts";
import { spoolDirectory } from "../../../server/ledger_file/spool_directory.ts";
import type { Config } from "../../../settings/config.ts";
import { CommandError } from "../../../settings/errors.ts";
import { serviceClient } from "../../../settings/service.ts";
import { readOrders } from "../../../sync/mod.ts";
import type { Cli } from "../../program/cli.ts";
import { confirmed, type Io, jsonLine, lines, note } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  serviceOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { upToDate, withStoredLedger } from "../../program/with_ledger.ts";

interface EraseFlags extends SharedFlags {
  readonly yes?: true;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** `users erase`. */
export function addErase(users: Command, cli: Cli): void {
  const command = users.command("erase").argument("<id>", "user id")
    .description(
      "erase a person: show what will be erased, ask, and erase it; " +
        "orders stay, without names",
    )
    .option("--yes", "do not ask")
    .option(
      "--dry-run",
      "show what would be erased, also what is found by comparing every event " +
        "with the person's ids, and change nothing",
    )
    .option(
      "--force",
      "erase even while an order is in progress, a refund is due, or the " +
        "service cannot be asked whose an order is",
    );
  jsonOption(serviceOptions(ledgerOptions(command)), "one object")
    .addHelpText(
      "after",
      "\nWith --json and without --yes nothing is erased. This command cannot reach:\n" +
        NOT_REACHED.map((one) => `  ${one}\n`).join("") +
        "\nExample:\n  rampkit users erase 01KA00000000000000000000",
    )
    .action(cli.run(async (id: string, flags: EraseFlags) => {
      await withStoredLedger(cli.io, flags, async (ledger, config) => {
        if (!flags.dryRun) await drain(ledger, config);
        await upToDate(ledger, cli.io);
        if (!flags.dryRun) await askForClaims(cli.io, ledger, config, id);
        await erase(cli.io, ledger, id, flags);
      });
    }));
}

/**
 * Takes into the ledger what processes that ended have left in the spool: it
 * may be about the person.
 *
 * @throws {CommandError} When something is left that cannot be read.
 */
async function drain(ledger: Ledger, config: Config): Promise<void> {
  const { waiting, damaged } = await drainLeft(spoolDirectory(config), ledger);
  const left = [...waiting, ...damaged];
  if (left.length === 0) return;
  throw new CommandError(
    "Nothing was erased: these files of the spool may hold deliveries of the " +
      `person, and cannot be taken into the ledger: ${left.join(", ")}; ` +
      "read the service again over that time with rampkit recover, move them " +
      "elsewhere, and run this again",
  );
}

/**
 * Asks the service for orders that only webhooks name as the person's: anybody
 * can send such a webhook. Where it cannot be asked they stay as they are.
 */
async function askForClaims(
  io: Io,
  ledger: Ledger,
  config: Config,
  userId: string,
): Promise<void> {
  const { claims } = await ledger.erasures.plan(userId);
  const unasked = claims.filter(({ isAsked }) => !isAsked)
    .map(({ orderId }) => orderId);
  if (unasked.length === 0 || config.apiKey === null) return;
  note(
    io,
    `Asking the service for ${counted(unasked.length, "order")} that only ` +
      "webhooks name as the person's ...",
  );
  const client = serviceClient(config, ledger.environment);
  const { now, signal } = io;
  try {
    await readOrders({ ledger, client, now, signal }, unasked);
  } catch (error) {
    signal.throwIfAborted();
    note(io, `The service could not be asked: ${messageOf(error)}`);
  }
}

async function erase(
  io: Io,
  ledger: Ledger,
  userId: string,
  { yes, force = false, json, dryRun = false }: EraseFlags,
): Promise<void> {
  const plan = await ledger.erasures.plan(userId, { compares: dryRun });
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
    const compared = await ledger.erasures.compare(io.signal);
    const cleaned = await clean(io, ledger);
    const again = { ...plan, pseudonym: null, erased: true, cleaned, compared };
    if (json) return jsonLine(io, erasureJson(again));
    return lines(io, erasedLines(again, before, io.columns));
  }
  if (!json) lines(io, planLines(plan, io.columns));
  if (dryRun) {
    const nothing = { ...plan, pseudonym: null, erased: false, cleaned: false };
    if (json) jsonLine(io, erasureJson(nothing));
    return;
  }
  const unasked = plan.claims.filter(({ isAsked }) => !isAsked);
  if (unasked.length > 0 && !force && (yes || !json)) {
    throw new CommandError(
      "Nothing was erased: only webhooks name these orders as the person's, " +
        "and the service was not asked for them: " +
        `${unasked.map(({ orderId }) => printable(orderId)).join(", ")}; ` +
        "set RAMPKIT_API_KEY, or add --force: what webhooks say of the " +
        "person then goes, and the orders stay",
    );
  }
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
