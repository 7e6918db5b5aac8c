import type { Command } from "commander";
import { copyLedger, type LedgerCopy } from "../../../ledger/for_cli.ts";
import { databaseFile } from "../../../ledger/for_server.ts";
import { type Ledger, openDriver } from "../../../ledger/mod.ts";
import { counted } from "../../../resources/views/text.ts";
import { shellWord } from "../../../resources/views/shell_word.ts";
import {
  holdLedger,
  takeLedger,
} from "../../../server/ledger_file/ledger_lock.ts";
import { openConfigured } from "../../../server/ledger_file/open_configured.ts";
import { databaseUrl } from "../../../settings/addresses.ts";
import { type Config, readConfig } from "../../../settings/config.ts";
import { VARIABLES } from "../../../settings/settings.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import type { Cli } from "../../program/cli.ts";
import { type Io, jsonLine, line, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { progress } from "../../program/progress.ts";
import { requireStored } from "../../program/with_ledger.ts";

interface CopyFlags extends SharedFlags {
  readonly to: string;
  readonly finish?: boolean;
}

/** `ledger copy`. */
export function addCopy(ledger: Command, cli: Cli): void {
  const command = ledger.command("copy").description(
    "copy the ledger, as it stands, into an empty database: a server or a file",
  ).requiredOption(
    "--to <url>",
    "the database: libsql:, https: or http: for sqld or Turso, or file:",
  ).option(
    "--finish",
    "nobody uses the ledger any more: copy the rest, compare, and make the " +
      "copy the ledger",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nRun it while serve runs, as often as you like: each run copies what " +
        "changed.\nThen stop serve, and run it with --finish. The token of the " +
        `server that --to\nnames is ${VARIABLES.copyToken}; ` +
        `${VARIABLES.databaseToken} is that of the ledger,\nand is not sent ` +
        "there.\n\nExample:\n  rampkit ledger copy --to https://ledger.example",
    )
    .action(cli.run((flags: CopyFlags) => copy(cli.io, flags)));
}

async function copy(io: Io, flags: CopyFlags): Promise<void> {
  const config = readConfig(io.env, flags);
  const to = databaseUrl("--to", flags.to);
  await requireStored(config);
  using _held = await held(config, flags.finish ?? false);
  await using ledger = await openConfigured(config, { now: io.now });
  const copied = await stoppable(
    io.signal,
    () => copyTo(io, ledger, { ...flags, to, token: config.copyToken }),
    () =>
      "what was copied stays, and the ledger is as it was; run it again, it " +
      "goes on",
  );
  if (flags.json) return jsonLine<LedgerCopy>(io, copied);
  const { rows, written, events, hash, finished } = copied;
  line(
    io,
    `Compared ${counted(rows, "row")}, wrote ${written} of them to ${to}`,
  );
  if (finished) {
    line(io, "Both ledgers hold the same rows in every table");
    if (hash !== null) {
      line(io, `The chain ends after ${counted(events, "event")} in ${hash}`);
    }
    line(io, "Use the copy from now on, and never the old ledger; check it:");
    lines(io, [
      `  rampkit ledger verify --states --database-url ${shellWord(to)}`,
    ]);
  } else {
    line(io, "To switch: stop every serve, then run the same with --finish");
  }
}

/** The ledger's file is held, or, where the copy is finished, held alone. */
async function held(config: Config, finish: boolean): Promise<Disposable> {
  const file = databaseFile(config.databaseUrl);
  return file === null || !finish
    ? await holdLedger(config)
    : await takeLedger(file, "finish the copy of");
}

async function copyTo(
  io: Io,
  ledger: Ledger,
  { to, token, finish = false, json = false }: {
    readonly to: string;
    readonly token: string | null;
    readonly finish?: boolean;
    readonly json?: boolean;
  },
): Promise<LedgerCopy> {
  const target = await openDriver({
    url: to,
    ...(token === null ? {} : { authToken: token }),
  });
  try {
    using bar = progress(io, "rows compared", !json);
    return await copyLedger(ledger.driver, target, {
      finish,
      signal: io.signal,
      onProgress: (rows) => bar.at(rows),
    });
  } finally {
    await target.close();
  }
}
