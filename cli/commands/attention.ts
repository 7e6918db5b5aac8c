import type { Command } from "commander";
import type { AttentionKind } from "../../ledger/mod.ts";
import type { Cli } from "../program/cli.ts";
import { jsonLine, line, lines } from "../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOf,
  limitOption,
  type SharedFlags,
} from "../program/options.ts";
import { untilStopped } from "../../settings/stoppable.ts";
import { upToDate, withReadLedger } from "../program/with_ledger.ts";
import {
  attentionJson,
  attentionLines,
} from "../../resources/views/attention_view.ts";
import { noteOlderFold } from "../program/older_fold.ts";
import { ORDER_FILTERS } from "../../resources/queries/order_filters.ts";

interface AttentionFlags extends SharedFlags {
  readonly limit?: number;
}

/** `attention`. */
export function addAttention(program: Command, cli: Cli): void {
  const command = program.command("attention").argument(
    "[kind]",
    "only orders that wait for this reason",
    (kind: string) => ORDER_FILTERS.attention.read("<kind>", kind),
  ).summary("list the orders that need a person, the most urgent first")
    .description(
      "list the orders that need a person, from the ledger alone: refunds " +
        "due, reversed payments, differing amounts, stuck and forged " +
        "orders; the most serious first",
    );
  jsonOption(
    limitOption(ledgerOptions(command), "orders"),
    "one object a line",
  )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit attention\n  rampkit attention refund_due --json",
    )
    .action(
      cli.run(
        async (kind: AttentionKind | undefined, flags: AttentionFlags) => {
          const { io } = cli;
          await withReadLedger(io, flags, async (ledger) => {
            await upToDate(ledger, io);
            await noteOlderFold(ledger, io);
            const nowMs = io.now();
            const limit = limitOf(flags);
            const items = [];
            let count = 0;
            let more = false;
            for await (
              const item of untilStopped(ledger.attention(kind), io.signal)
            ) {
              if (limit > 0 && count === limit) {
                more = true;
                break;
              }
              count++;
              if (flags.json) jsonLine(io, attentionJson(item, nowMs));
              else items.push(item);
            }
            if (flags.json) return;
            if (count === 0) return line(io, "No order waits for a person");
            lines(io, attentionLines(items, io.columns, nowMs, kind));
            if (!more) return;
            line(io);
            line(io, `The gravest ${limit}; --limit 0 shows all`);
          });
        },
      ),
    );
}
