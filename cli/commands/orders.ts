import { type Command, Option } from "commander";
import type { OrderView } from "../../ledger/mod.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { explanationLines } from "../explanation_view.ts";
import { jsonLine, line } from "../io.ts";
import {
  jsonOption,
  ledgerOptions,
  moment,
  type SharedFlags,
  wholeNumber,
} from "../options.ts";
import { orderJson, orderLines, orderTable } from "../order_view.ts";
import type { Cli } from "../cli.ts";
import { upToDate, withLedger } from "../with_ledger.ts";
import { exportOrders } from "../order_export.ts";

interface ListFlags extends SharedFlags {
  readonly status?: string;
  readonly trust?: "claimed" | "confirmed";
  readonly user?: string;
  readonly click?: string;
  readonly asset?: string;
  readonly from?: string;
  readonly to?: string;
  readonly anomaly?: string | true;
  readonly limit: number;
}

/** `orders list | show | explain | export`. */
export function addOrders(program: Command, cli: Cli): void {
  const orders = program.command("orders").description(
    "what the ledger knows of orders",
  );
  addList(orders, cli);
  addShow(orders, cli);
  addExplain(orders, cli);
  addExport(orders, cli);
}

function addList(orders: Command, cli: Cli): void {
  const command = orders.command("list").description(
    "list orders, newest first",
  );
  filterOptions(ledgerOptions(command))
    .option(
      "--limit <n>",
      "at most this many orders, 0 for all",
      wholeNumber("--limit", 0, 1e9),
      50,
    );
  jsonOption(command, "one JSON object a line")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders list --status pending --limit 20",
    )
    .action(cli.run(async (flags: ListFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const shown: OrderView[] = [];
        let count = 0;
        let more = false;
        for await (const order of ledger.orders.list(query(flags))) {
          if (flags.limit > 0 && count === flags.limit) {
            more = true;
            break;
          }
          count++;
          if (flags.json) jsonLine(cli.io, orderJson(order));
          else shown.push(order);
        }
        if (flags.json) return;
        if (count === 0) return line(cli.io, "No orders match");
        line(cli.io, orderTable(shown, cli.io.columns));
        if (more) {
          line(cli.io, `\nFirst ${flags.limit} shown; --limit 0 shows all`);
        }
      });
    }));
}

function addShow(orders: Command, cli: Cli): void {
  const command = orders.command("show").argument(
    "<id>",
    "order id, external order id, or a click id that leads to one order",
  ).description("show one order: its state and what is odd about it");
  jsonOption(ledgerOptions(command), "one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const order = theOne(await ledger.orders.find(id), id);
        if (flags.json) jsonLine(cli.io, orderJson(order));
        else for (const text of orderLines(order)) line(cli.io, text);
      });
    }));
}

function addExplain(orders: Command, cli: Cli): void {
  const command = orders.command("explain").argument("<id>", "as for show")
    .description("show every event of an order and what each one changed");
  jsonOption(ledgerOptions(command), "one JSON object")
    .option(
      "--as-of <time>",
      "what was known then, instead of now",
      moment("--as-of"),
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders explain 01KA00000000000000000000",
    )
    .action(
      cli.run(async (id: string, flags: SharedFlags & { asOf?: string }) => {
        return await withLedger(cli.io, flags, async (ledger) => {
          await upToDate(ledger, cli.io);
          const { orderId } = theOne(await ledger.orders.find(id), id);
          if (flags.asOf !== undefined) {
            const then = await ledger.asOf(orderId, flags.asOf);
            if (then === null) {
              line(
                cli.io,
                `Nothing was known of order ${orderId} at ${flags.asOf}`,
              );
              return EXIT.failed;
            }
            if (flags.json) jsonLine(cli.io, orderJson(then));
            else for (const text of orderLines(then)) line(cli.io, text);
            return EXIT.fine;
          }
          const explanation = await ledger.explain(orderId);
          if (explanation === null) throw notFound(id);
          if (flags.json) jsonLine(cli.io, explanation);
          else {
            for (const text of explanationLines(explanation)) {
              line(cli.io, text);
            }
          }
          return EXIT.fine;
        });
      }),
    );
}

function addExport(orders: Command, cli: Cli): void {
  const command = orders.command("export").description(
    "write orders for finance, amounts exactly as the service stated them",
  );
  filterOptions(ledgerOptions(command))
    .addOption(
      new Option("--format <format>", "csv or ndjson").choices([
        "csv",
        "ndjson",
      ]).default("csv"),
    )
    .option(
      "--totals",
      "daily totals (days in UTC) by asset and currency instead of orders",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders export --from 2026-11-01 --status success > november.csv",
    )
    .action(
      cli.run(
        async (
          flags: ListFlags & { format: "csv" | "ndjson"; totals?: boolean },
        ) => {
          await withLedger(cli.io, flags, async (ledger) => {
            await upToDate(ledger, cli.io);
            await exportOrders(ledger.orders.list(query(flags)), {
              format: flags.format,
              totals: flags.totals ?? false,
              write: cli.io.out,
            });
          });
        },
      ),
    );
}

function filterOptions(command: Command): Command {
  return command
    .option("--status <status>", "only orders in this status")
    .addOption(
      new Option("--trust <trust>", "only orders of this trust").choices([
        "claimed",
        "confirmed",
      ]),
    )
    .option("--user <id>", "only orders of this user")
    .option("--click <id>", "only orders of this click id")
    .option("--asset <code>", "only orders of this asset, for example USDC")
    .option("--from <time>", "created after, UTC", moment("--from"))
    .option("--to <time>", "created up to, UTC", moment("--to"))
    .option(
      "--anomaly [kind]",
      "only orders with an anomaly, or with this kind",
    );
}

function query(flags: ListFlags): Record<string, string | boolean> {
  return {
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(flags.trust === undefined ? {} : { trust: flags.trust }),
    ...(flags.user === undefined ? {} : { userId: flags.user }),
    ...(flags.click === undefined ? {} : { clickId: flags.click }),
    ...(flags.asset === undefined ? {} : { commodity: flags.asset }),
    ...(flags.from === undefined ? {} : { createdAfter: flags.from }),
    ...(flags.to === undefined ? {} : { createdUpTo: flags.to }),
    ...(flags.anomaly === undefined ? {} : { anomaly: flags.anomaly }),
  };
}

function theOne(found: readonly OrderView[], id: string): OrderView {
  const [first, ...others] = found;
  if (first === undefined) throw notFound(id);
  if (others.length > 0) {
    throw new CommandError(
      `Several orders share "${id}": ` +
        `${found.map((order) => order.orderId).join(", ")}; name one of them`,
    );
  }
  return first;
}

function notFound(id: string): CommandError {
  return new CommandError(
    `No such order: the ledger has no order, external or click id "${id}"; ` +
      "a poll may find it: rampkit poll --once",
  );
}
