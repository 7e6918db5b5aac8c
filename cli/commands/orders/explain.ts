import type { Command } from "commander";
import { readFreshness } from "../../../sync/mod.ts";
import type { Cli } from "../../program/cli.ts";
import { CommandError, EXIT } from "../../../settings/errors.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { moment, TIME_FORMAT } from "../../../settings/values.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import {
  explanationJson,
  explanationLines,
} from "../../../resources/views/explanation_view.ts";
import { orderJson, orderLines } from "../../../resources/views/order_view.ts";
import { pollAdvice } from "../../program/poll_advice.ts";
import { nextCommand, operands } from "../../../resources/views/shell_word.ts";
import { findOrder, ORDER_ID, orderNotFound } from "./show.ts";

interface ExplainFlags extends SharedFlags {
  readonly asOf?: string;
  readonly verbose?: boolean;
}

/** `orders explain`. */
export function addExplain(orders: Command, cli: Cli): void {
  const command = orders.command("explain").argument("<id>", ORDER_ID)
    .description(
      "explain the state of an order: what each event changed, and why",
    );
  jsonOption(ledgerOptions(command), "one object")
    .option(
      "--verbose",
      "every field that changed, and which event each comes from",
    )
    .option(
      "--as-of <time>",
      `what was known at this time: ${TIME_FORMAT}`,
      moment("--as-of"),
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders explain 01KA00000000000000000000",
    )
    .action(
      cli.run(async (id: string, flags: ExplainFlags) => {
        return await withReadLedger(cli.io, flags, async (ledger, config) => {
          await upToDate(ledger, cli.io);
          const { orderId } = (await findOrder(ledger, config, id)).order;
          if (flags.asOf !== undefined) {
            const then = await ledger.asOf(orderId, flags.asOf);
            if (then === null) {
              throw new CommandError(
                `Nothing was known of order ${orderId} at ${flags.asOf}`,
                "not_found",
              );
            }
            const thenMs = Date.parse(flags.asOf);
            if (flags.json) jsonLine(cli.io, orderJson(then, thenMs));
            else {
              lines(cli.io, orderLines(then, cli.io.columns, thenMs));
            }
            return EXIT.fine;
          }
          const explanation = await ledger.explain(orderId);
          if (explanation === null) {
            throw orderNotFound(id, await pollAdvice(ledger, config));
          }
          if (flags.json) {
            jsonLine(cli.io, explanationJson(explanation, cli.io.now()));
          } else {
            const { columns } = cli.io;
            const { verbose = false } = flags;
            const nowMs = cli.io.now();
            const freshness = await readFreshness(
              ledger.driver,
              "order",
              orderId,
              cli.io.now(),
            );
            lines(
              cli.io,
              explanationLines(explanation, {
                columns,
                nowMs,
                freshness,
                verbose,
              }),
            );
            if (!verbose) {
              lines(cli.io, [
                "",
                "Every field that changed:",
                nextCommand(
                  flags,
                  "orders explain --verbose",
                  operands(orderId),
                ),
              ]);
            }
          }
          return EXIT.fine;
        });
      }),
    );
}
