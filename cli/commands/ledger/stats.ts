import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/progress.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { ledgerStatsJson } from "../../../resources/queries/statistics.ts";
import { labelled } from "../../../resources/views/text.ts";

/** `ledger stats`. */
export function addStats(ledger: Command, cli: Cli): void {
  const command = ledger.command("stats").description(
    "how much the ledger holds and how far it is folded",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit ledger stats")
    .action(cli.run(async (flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        const stats = ledgerStatsJson(await ledger.stats());
        if (flags.json) return jsonLine(cli.io, stats);
        const kinds = Object.entries(stats.events);
        const events = kinds.reduce((sum, [, count]) => sum + count, 0);
        const rows: [string, string | number][] = [
          ["Environment", ledger.environment],
          ["Events", events],
          ...kinds.map(([kind, count]): [string, number] => [
            `  ${kind}`,
            count,
          ]),
          ["Quarantined", `${stats.quarantined} webhooks`],
          ["Orders", stats.orders],
          ["Users", stats.users],
          ["Last position", stats.position],
          ["Not folded", `${stats.lag} events`],
          ["Chain", `${stats.chain.count}:${stats.chain.hash}`],
          ...(stats.chain.broken === null
            ? []
            : [["Chain broken", stats.chain.broken] as [string, string]]),
        ];
        lines(
          cli.io,
          labelled(
            rows.map(([label, value]) => [label, String(value)]),
            cli.io.columns,
            23,
          ),
        );
        await noteWaiting(ledger, cli.io, flags);
      });
    }));
}
