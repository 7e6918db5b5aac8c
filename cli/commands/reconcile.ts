import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { reconcileJson } from "../../resources/views/reconcile_view.ts";
import { drawTable } from "../../resources/views/table.ts";
import { counted } from "../../resources/views/text.ts";
import {
  describeFinding,
  unprovenJson,
} from "../../resources/wording/reconcile.ts";
import { EXIT } from "../../settings/errors.ts";
import { stoppable } from "../../settings/stoppable.ts";
import {
  epochMs,
  moment,
  refuseFuture,
  TIME_FORMAT,
  windowEnd,
} from "../../settings/values.ts";
import { reconcile, type ReconcileReport } from "../../sync/mod.ts";
import type { Cli } from "../program/cli.ts";
import { type Io, jsonLine, line, lines } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  orderedWindow,
  rateOption,
  serviceOptions,
} from "../program/options.ts";
import { progress } from "../program/progress.ts";
import { upToDate } from "../program/with_ledger.ts";
import { type ServiceFlags, withService } from "../program/with_service.ts";

interface ReconcileFlags extends ServiceFlags {
  readonly from?: string;
  readonly to?: string;
  readonly all?: boolean;
}

/** `reconcile`: service and ledger, side by side. */
export function addReconcile(program: Command, cli: Cli): void {
  const command = program.command("reconcile").summary(
    "compare service and ledger, and change nothing",
  ).description(
    "compare service and ledger over a window of creation time, and change nothing",
  );
  jsonOption(
    orderedWindow(rateOption(serviceOptions(ledgerOptions(command)))),
    "one object",
  )
    .option(
      "--from <time>",
      `start of the window: ${TIME_FORMAT} (default: the oldest order)`,
      moment("--from"),
    )
    .option(
      "--to <time>",
      "end of the window; a date includes its whole day (default: now)",
      windowEnd("--to"),
    )
    .option("--all", "list the orders that agree as well")
    .addHelpText(
      "after",
      "\nExit code 3 when they disagree.\n\nExample:\n  rampkit reconcile --from 2026-11-01 --json",
    )
    .action(cli.run((flags: ReconcileFlags) => compare(cli.io, flags)));
}

async function compare(io: Io, flags: ReconcileFlags): Promise<number> {
  refuseFuture(flags.from, io.now());
  return await withService(io, flags, async (ledger, client) => {
    using bar = progress(io, "orders compared", !flags.json);
    let compared = 0;
    const report = await stoppable(io.signal, async () => {
      await upToDate(ledger, io);
      return await reconcile({
        ledger,
        client,
        ...defined({ fromMs: epochMs(flags.from), toMs: epochMs(flags.to) }),
        now: io.now,
        assets: ledger.environment === "sandbox" ? "sandbox" : "production",
        all: flags.all ?? false,
        onProgress: (count) => bar.at(compared = count),
        signal: io.signal,
      });
    }, () => `${compared} orders were compared, and nothing is concluded`);
    bar.end();
    if (flags.json) jsonLine(io, reconcileJson(report));
    else print(io, report);
    return report.disagreements === 0 ? EXIT.fine : EXIT.disagreement;
  });
}

function print(io: Io, report: ReconcileReport): void {
  if (report.rows.length > 0) {
    lines(io, [
      drawTable(
        [
          { title: "Order", whole: true },
          { title: "Category", whole: true },
          { title: "Service", whole: true, spare: 2 },
          { title: "Ledger", whole: true, spare: 3 },
          { title: "Flags", spare: 1 },
          { title: "Detail", spare: 4 },
        ],
        report.rows.map((row) => [
          row.orderId,
          row.category,
          row.serviceStatus ?? "-",
          row.ledgerStatus === null
            ? "-"
            : `${row.ledgerStatus} (${row.trust})`,
          row.flags.join(" "),
          describeFinding(row),
        ]),
        io.columns,
      ),
    ]);
    line(io);
  }
  const kinds = Object.entries(report.counts).filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`);
  line(
    io,
    `${counted(report.orders, "order")} compared: ${
      kinds.join(", ") || "none"
    }`,
  );
  line(
    io,
    report.complete
      ? `Proven complete up to ${report.provenUpTo}`
      : `Not proven complete: ${unprovenJson(report.why).why}`,
  );
  line(
    io,
    report.disagreements === 0
      ? "Service and ledger agree"
      : `They disagree on ${counted(report.disagreements, "order")}; ` +
        (report.counts.behind + report.counts.claimed_only > 0
          ? "what is behind or only claimed is read by `poll --once`, or " +
            "beside a running `serve` by `recover`; "
          : "") +
        "RUNBOOK.md says what each category means",
  );
}
