import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/note_waiting.ts";
import {
  orderDetail,
  type OrderDetailJson,
} from "../../../resources/queries/order.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { orderLines } from "../../../resources/views/order_view.ts";
import { foundByLines } from "../../../resources/views/found_by.ts";
import { nextCommand, operands } from "../../../resources/views/shell_word.ts";
import { findOrder, ORDER_ID } from "./find_order.ts";

/** Whether a person is to decide about what the order pays for. */
function awaitsRelease(
  { attention, byHand, facts, release }: OrderDetailJson,
): boolean {
  return byHand === null && facts.shown === "success" &&
    (attention.length > 0 || release === "unchecked");
}

/** `orders show`. */
export function addShow(orders: Command, cli: Cli): void {
  const command = orders.command("show").argument("<id>", ORDER_ID)
    .description("show one order: its state and its anomalies");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger, config) => {
        await upToDate(ledger, cli.io);
        await noteWaiting(ledger, cli.io, flags);
        const found = await findOrder(ledger, config, id);
        const { order, foundBy } = found;
        const detail = await orderDetail(ledger, found, cli.io.now());
        if (flags.json) return jsonLine(cli.io, detail);
        const { columns } = cli.io;
        lines(cli.io, [
          ...orderLines(order, columns, cli.io.now(), detail),
          ...foundByLines(id, foundBy, columns),
        ]);
        if (awaitsRelease(detail)) {
          const what = detail.facts.match === "matched"
            ? "--delivered"
            : "--delivered --for REFERENCE";
          lines(cli.io, [
            "",
            "Once you have delivered it, record that; or --refunded:",
            nextCommand(
              flags,
              `release ${what} --by NAME --why TEXT`,
              operands(order.orderId),
            ),
          ]);
        }
        if (order.anomalies.length > 0) {
          lines(cli.io, [
            "",
            "Event by event:",
            nextCommand(flags, "orders explain", operands(order.orderId)),
          ]);
        }
      });
    }));
}
