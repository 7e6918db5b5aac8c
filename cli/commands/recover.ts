import { recoverJson } from "../../resources/views/reconcile_view.ts";
import { unprovenJson } from "../../resources/wording/reconcile.ts";
import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { recover } from "../../sync/mod.ts";
import type { Cli } from "../program/cli.ts";
import { counted } from "../../resources/views/text.ts";
import { EXIT } from "../../settings/errors.ts";
import { type Io, jsonLine, line } from "../program/io.ts";
import {
  epochMs,
  moment,
  refuseFuture,
  TIME_FORMAT,
  windowEnd,
} from "../../settings/values.ts";
import {
  jsonOption,
  ledgerOptions,
  orderedWindow,
  rateOption,
  serviceOptions,
} from "../program/options.ts";
import { progress } from "../program/progress.ts";
import { stoppable } from "../../settings/stoppable.ts";
import { type ServiceFlags, withService } from "../program/with_service.ts";

interface RecoverFlags extends ServiceFlags {
  readonly from: string;
  readonly to?: string;
}

/** `recover`: after an outage, read everything again and end in the proof. */
export function addRecover(program: Command, cli: Cli): void {
  const command = program.command("recover").summary(
    "read a window of time again after an outage",
  ).description(
    "read a window again after an outage, and say whether all of it was read",
  );
  jsonOption(
    orderedWindow(rateOption(serviceOptions(ledgerOptions(command)))),
    "one object",
  )
    .requiredOption(
      "--from <time>",
      `start of the outage: ${TIME_FORMAT}`,
      moment("--from"),
    )
    .option(
      "--to <time>",
      "end of the outage; a date includes its whole day (default: now)",
      windowEnd("--to"),
    )
    .addHelpText(
      "after",
      "\nExit code 1 when completeness could not be proven.\n\nExample:\n  rampkit recover --from 2026-11-19T22:00:00Z --to 2026-11-20T06:00:00Z",
    )
    .action(cli.run((flags: RecoverFlags) => readAgain(cli.io, flags)));
}

async function readAgain(io: Io, flags: RecoverFlags): Promise<number> {
  refuseFuture(flags.from, io.now());
  return await withService(io, flags, async (ledger, client) => {
    using bar = progress(io, "orders and users read", !flags.json);
    let read = 0;
    const report = await stoppable(
      io.signal,
      () =>
        recover({
          ledger,
          client,
          fromMs: Date.parse(flags.from),
          ...defined({ toMs: epochMs(flags.to) }),
          now: io.now,
          onProgress: ({ orders, users }) => bar.at(read += orders + users),
          signal: io.signal,
        }),
      () =>
        `${read} orders and users were read, and what was new is stored; ` +
        "nothing is proven, run it again",
    );
    bar.end();
    if (flags.json) jsonLine(io, recoverJson(report));
    else {
      line(
        io,
        `${counted(report.orders, "reading")} of orders and ${report.users} ` +
          `of users; ${report.appended} said something new`,
      );
      line(
        io,
        report.complete
          ? `Complete: everything created from ${report.from} to ${report.provenUpTo} was read`
          : `Incomplete: ${unprovenJson(report.why).why}; run it again`,
      );
    }
    return report.complete ? EXIT.fine : EXIT.failed;
  });
}
