import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { noteWaiting } from "../../program/progress.ts";
import {
  orderDetail,
  type OrderDetailJson,
  type ResolvedOrder,
  resolveOrder,
} from "../../../resources/queries/order.ts";
import { upToDate, withReadLedger } from "../../program/with_ledger.ts";
import { orderLines } from "../../../resources/views/order_view.ts";
import { foundByLines } from "../../../resources/views/found_by.ts";
import { nextCommand, operands } from "../../../resources/views/shell_word.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import type { Config } from "../../../settings/config.ts";
import { CommandError } from "../../../settings/errors.ts";
import { pollAdvice } from "../../program/poll_advice.ts";

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

/** What names an order, for help texts. */
export const ORDER_ID =
  "order id, external order id, your reference, or a click or session id " +
  "that leads to one order";

/**
 * Finds the order that an id names.
 *
 * @throws {CommandError} When there is none, or several.
 */
export async function findOrder(
  ledger: Ledger,
  config: Config,
  id: string,
): Promise<ResolvedOrder & { readonly found: "one" }> {
  const resolved = await resolveOrder(ledger, id);
  if (resolved.found === "one") return resolved;
  if (resolved.found === "none") {
    throw orderNotFound(id, await pollAdvice(ledger, config));
  }
  const { orderIds, foundBy } = resolved;
  throw new CommandError(
    foundBy.trust === "confirmed"
      ? `Several orders share "${id}": ${orderIds.join(", ")}; name one of them`
      : `Only webhooks name "${id}", with several orders: ` +
        `${orderIds.join(", ")}; the service has shown none of them under ` +
        `it; name one of them`,
  );
}

/** The error for an id that names no order. */
export function orderNotFound(id: string, advice: string): CommandError {
  return new CommandError(
    `No such order: the ledger has no order, external, click or session id, and no ` +
      `reference of yours, "${id}"; ` +
      advice,
    "not_found",
  );
}
