import { type Command, Option } from "commander";
import type { OrderView } from "../../ledger/mod.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { explanationLines } from "../explanation_view.ts";
import { type Io, jsonLine, line, lines, note } from "../io.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOf,
  limitOption,
  moment,
  outputOption,
  type SharedFlags,
  TIME_FORMAT,
  windowEnd,
} from "../options.ts";
import { orderJson, orderLines, orderTable } from "../order_view.ts";
import { openOutput } from "../output.ts";
import type { Cli } from "../cli.ts";
import { stoppable, untilStopped } from "../stoppable.ts";
import { upToDate, withReadLedger } from "../with_ledger.ts";
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
  readonly limit?: number;
}

/** `orders list | show | explain | export`. */
export function addOrders(program: Command, cli: Cli): void {
  const orders = program.command("orders").summary(
    "list, show, explain and export orders",
  ).description(
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
  limitOption(filterOptions(ledgerOptions(command)), "orders");
  jsonOption(command, "one object a line")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders list --status pending --limit 20",
    )
    .action(cli.run(async (flags: ListFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const limit = limitOf(flags);
        const shown: OrderView[] = [];
        let count = 0;
        let more = false;
        const orders = ledger.orders.list(query(flags));
        for await (const order of untilStopped(orders, cli.io.signal)) {
          if (limit > 0 && count === limit) {
            more = true;
            break;
          }
          count++;
          if (flags.json) jsonLine(cli.io, orderJson(order));
          else shown.push(order);
        }
        if (flags.json) return;
        if (count === 0) return nothing(cli.io, flags);
        lines(cli.io, [orderTable(shown, cli.io.columns)]);
        if (more) {
          line(cli.io);
          line(cli.io, `The newest ${limit}; --limit 0 shows all`);
        }
      });
    }));
}

/** Statuses are open, so one that is not documented is no error. */
const STATUSES = [
  "created",
  "progress",
  "pending",
  "failed",
  "success",
  "cancelled",
];

function nothing(io: Io, { status }: ListFlags): void {
  line(io, "No orders match");
  if (status !== undefined && !STATUSES.includes(status)) {
    note(io, `"${status}" is none of ${STATUSES.join(", ")}`);
  }
}

const ONE_ORDER =
  "order id, external order id, or a click id that leads to one order";

function addShow(orders: Command, cli: Cli): void {
  const command = orders.command("show").argument("<id>", ONE_ORDER)
    .description("show one order: its state and its anomalies");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        await upToDate(ledger, cli.io);
        const order = theOne(await ledger.orders.find(id), id);
        if (flags.json) return jsonLine(cli.io, orderJson(order));
        lines(cli.io, orderLines(order, cli.io.columns));
        if (order.anomalies.length > 0) {
          lines(cli.io, [
            "",
            "Event by event:",
            `  rampkit orders explain ${order.orderId}`,
          ]);
        }
      });
    }));
}

function addExplain(orders: Command, cli: Cli): void {
  const command = orders.command("explain").argument("<id>", ONE_ORDER)
    .description("show every event of an order and what each one changed");
  jsonOption(ledgerOptions(command), "one object")
    .option(
      "--as-of <time>",
      `what was known then, instead of now: ${TIME_FORMAT}`,
      moment("--as-of"),
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders explain 01KA00000000000000000000",
    )
    .action(
      cli.run(async (id: string, flags: SharedFlags & { asOf?: string }) => {
        return await withReadLedger(cli.io, flags, async (ledger) => {
          await upToDate(ledger, cli.io);
          const { orderId } = theOne(await ledger.orders.find(id), id);
          if (flags.asOf !== undefined) {
            const then = await ledger.asOf(orderId, flags.asOf);
            if (then === null) {
              throw new CommandError(
                `Nothing was known of order ${orderId} at ${flags.asOf}`,
              );
            }
            if (flags.json) jsonLine(cli.io, orderJson(then));
            else lines(cli.io, orderLines(then, cli.io.columns));
            return EXIT.fine;
          }
          const explanation = await ledger.explain(orderId);
          if (explanation === null) throw notFound(id);
          if (flags.json) jsonLine(cli.io, explanation);
          else lines(cli.io, explanationLines(explanation, cli.io.columns));
          return EXIT.fine;
        });
      }),
    );
}

interface ExportFlags extends ListFlags {
  readonly format: "csv" | "ndjson";
  readonly totals?: boolean;
  readonly output?: string;
}

function addExport(orders: Command, cli: Cli): void {
  const command = orders.command("export").description(
    "write orders for finance, amounts exactly as the service stated them",
  );
  outputOption(filterOptions(ledgerOptions(command)))
    .addOption(
      new Option("--format <format>", "how it is written").choices([
        "csv",
        "ndjson",
      ]).default("csv"),
    )
    .option(
      "--totals",
      "totals instead of orders, by day (UTC), status, asset, currency and trust",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders export --from 2026-11-01 --to 2026-11-30 --status success --output november.csv",
    )
    .action(cli.run((flags: ExportFlags) => exportAll(cli.io, flags)));
}

async function exportAll(io: Io, flags: ExportFlags): Promise<void> {
  await withReadLedger(io, flags, async (ledger) => {
    let count = 0;
    const counted = async function* () {
      const orders = ledger.orders.list(query(flags));
      for await (const order of untilStopped(orders, io.signal)) {
        yield order;
        count++;
      }
    };
    using output = openOutput(
      io,
      flags.output,
      () => `NOT WHOLE: the export was cut after ${count} orders`,
    );
    await stoppable(
      io.signal,
      async () => {
        await upToDate(ledger, io);
        await exportOrders(counted(), {
          format: flags.format,
          totals: flags.totals ?? false,
          write: output.write,
        });
        output.finish();
      },
      () =>
        `after ${count} orders; ` +
        (flags.output === undefined
          ? "the output is not whole, and its last line says so"
          : `${flags.output} was not written`),
    );
    if (flags.output !== undefined) {
      const what = flags.totals ? "the totals of " : "";
      note(io, `Wrote ${what}${count} orders to ${flags.output}`);
    }
  });
}

function filterOptions(command: Command): Command {
  return command
    .option(
      "--status <status>",
      `only orders in this status: ${STATUSES.join(", ")}`,
    )
    .addOption(
      new Option("--trust <trust>", "only orders of this trust").choices([
        "claimed",
        "confirmed",
      ]),
    )
    .option("--user <id>", "only orders of this user")
    .option("--click <id>", "only orders of this click id")
    .option("--asset <code>", "only orders of this asset, for example USDC")
    .option(
      "--from <time>",
      `created then or later: ${TIME_FORMAT}`,
      moment("--from"),
    )
    .option(
      "--to <time>",
      "created before then; a day is meant whole",
      windowEnd("--to"),
    )
    .option(
      "--anomaly [kind]",
      "only orders with an anomaly, or with one of this kind",
    );
}

function query(flags: ListFlags): Record<string, string | boolean> {
  return {
    ...(flags.status === undefined ? {} : { status: flags.status }),
    ...(flags.trust === undefined ? {} : { trust: flags.trust }),
    ...(flags.user === undefined ? {} : { userId: flags.user }),
    ...(flags.click === undefined ? {} : { clickId: flags.click }),
    ...(flags.asset === undefined ? {} : { commodity: flags.asset }),
    ...(flags.from === undefined
      ? {}
      : { createdAfter: justBefore(flags.from) }),
    ...(flags.to === undefined ? {} : { createdUpTo: justBefore(flags.to) }),
    ...(flags.anomaly === undefined ? {} : { anomaly: flags.anomaly }),
  };
}

/** Windows hold their start and not their end, so that days do not overlap. */
function justBefore(time: string): string {
  return new Date(Date.parse(time) - 1).toISOString();
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
