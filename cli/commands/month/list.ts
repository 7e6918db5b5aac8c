import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, line, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { monthJson } from "../../../resources/views/month_view.ts";
import { drawTable } from "../../../resources/views/table.ts";

/** `month list`. */
export function addList(month: Command, cli: Cli): void {
  const command = month.command("list").description("list the closed months");
  jsonOption(ledgerOptions(command), "one object a line")
    .addHelpText("after", "\nExample:\n  rampkit month list")
    .action(cli.run(async (flags: SharedFlags) => {
      const { io } = cli;
      await withReadLedger(io, flags, async (ledger) => {
        const rows: string[][] = [];
        for await (const close of ledger.months.list()) {
          if (flags.json) jsonLine(io, monthJson(close));
          const { month, closedAt, timeZone, bookBy, asOf } = close;
          const position = String(asOf.position);
          rows.push([month, closedAt, timeZone, bookBy, position]);
        }
        if (flags.json) return;
        if (rows.length === 0) return line(io, "No month is closed");
        lines(io, [
          drawTable(
            [
              { title: "Month", whole: true },
              { title: "Closed", whole: true },
              { title: "Time zone", spare: 2 },
              { title: "Booked by", whole: true, spare: 1 },
              { title: "As of", align: "right", whole: true, spare: 3 },
            ],
            rows,
            io.columns,
          ),
        ]);
      });
    }));
}
