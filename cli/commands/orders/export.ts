import { type Command, Option } from "commander";
import type { AsOf } from "../../../ledger/types.ts";
import type { Ledger, OrderView } from "../../../ledger/mod.ts";
import type { Cli } from "../../program/cli.ts";
import { type Io, note } from "../../program/io.ts";
import { UsageError } from "../../../settings/errors.ts";
import {
  bomOption,
  ledgerOptions,
  outputOption,
  type SharedFlags,
} from "../../program/options.ts";
import { moment, TIME_FORMAT } from "../../../settings/values.ts";
import { stoppable, untilStopped } from "../../../settings/stoppable.ts";
import { upToDate, withStoredLedger } from "../../program/with_ledger.ts";
import { counted } from "../../../resources/views/text.ts";
import { exportOrders } from "../../../resources/views/order_export.ts";
import {
  checkStatus,
  matches,
  ORDER_FILTERS,
  type OrderFilters,
  orderQuery,
} from "../../../resources/queries/order_filters.ts";
import { refuseEmptyWindow } from "../../../resources/queries/list_filters.ts";
import { optionsOf } from "../../program/operation_options.ts";
import { BYTE_ORDER_MARK, openOutput } from "../../program/output.ts";

interface ExportFlags extends SharedFlags, Omit<OrderFilters, "trust"> {
  readonly trust: "confirmed" | "claimed" | "all";
  readonly format: "csv" | "ndjson";
  readonly totals?: boolean;
  readonly asOf?: AsOf;
  readonly bom?: boolean;
  readonly output?: string;
}

/** `orders export`. */
export function addExport(orders: Command, cli: Cli): void {
  // What is not exported is counted, so trust is no filter here.
  const { trust: _, ...filters } = ORDER_FILTERS;
  const command = orders.command("export").description(
    "export orders for finance, with amounts exactly as the service stated them",
  );
  ledgerOptions(command);
  for (const [name, filter] of Object.entries(filters)) {
    for (const option of optionsOf(name, filter)) command.addOption(option);
  }
  bomOption(outputOption(command))
    .addOption(
      new Option("--format <format>", "how it is written").choices([
        "csv",
        "ndjson",
      ]).default("csv"),
    )
    .addOption(
      new Option(
        "--trust <trust>",
        "which orders; a claim may come from anyone who knows the webhook address",
      ).choices(["confirmed", "claimed", "all"]).default("confirmed"),
    )
    .option(
      "--totals",
      "totals instead of orders, by day (UTC), status, asset, currency and trust",
    )
    .option(
      "--as-of <position|time>",
      "what was known at this point, sorted by order id: a position of " +
        `the ledger, or ${TIME_FORMAT}`,
      asOf,
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit orders export --from 2026-11-01 --to 2026-11-30 --status success --output november.csv",
    )
    .action(cli.run((flags: ExportFlags) => exportAll(cli.io, flags)));
}

async function exportAll(io: Io, flags: ExportFlags): Promise<void> {
  refuseEmptyWindow(flags, (name) => `--${name}`);
  // An empty file of books must not come of a mistyped name.
  await withStoredLedger(io, flags, async (ledger) => {
    let count = 0;
    let leftOut = 0;
    // What is not exported is counted, so trust is no filter here.
    const { trust, ...filters } = flags;
    const wanted = async function* () {
      const orders = flags.asOf === undefined
        ? ledger.orders.list(orderQuery(filters))
        : ordersThen(ledger, flags.asOf, filters, io.now());
      for await (const order of untilStopped(orders, io.signal)) {
        if (trust === "all" || order.trust === trust) {
          yield order;
          count++;
        } else leftOut++;
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
        await checkStatus(ledger, "--status", flags.status);
        await checkAsOf(ledger, flags.asOf);
        if (flags.bom) output.write(BYTE_ORDER_MARK);
        await exportOrders(wanted(), {
          format: flags.format,
          totals: flags.totals ?? false,
          nowMs: io.now(),
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
      note(io, `Wrote ${what}${counted(count, "order")} to ${flags.output}`);
    }
    if (leftOut > 0) note(io, notExported(leftOut, trust));
  });
}

function asOf(text: string): AsOf {
  return /^\d{1,15}$/.test(text)
    ? { position: Number(text) }
    : { time: moment("--as-of")(text) };
}

/** A position that is not reached would give another answer later. */
async function checkAsOf(
  ledger: Ledger,
  asOf: AsOf | undefined,
): Promise<void> {
  if (asOf === undefined || "time" in asOf) return;
  const { position } = await ledger.stats();
  if (asOf.position <= position) return;
  throw new UsageError(
    `Wrong --as-of: the ledger ends at position ${position}`,
  );
}

async function* ordersThen(
  ledger: Ledger,
  asOf: AsOf,
  flags: OrderFilters,
  nowMs: number,
): AsyncGenerator<OrderView> {
  for await (const order of ledger.ordersAsOf(asOf)) {
    if (matches(order, flags, nowMs)) yield order;
  }
}

/** Says what was left out, so that a part is not mistaken for the whole. */
function notExported(count: number, trust: ExportFlags["trust"]): string {
  const orders = counted(count, "order");
  return trust === "claimed"
    ? `Left out: ${orders} that the service has confirmed; --trust all exports both`
    : `Left out: ${orders} that only webhooks claim and the service has not ` +
      "confirmed; --trust all exports both";
}
