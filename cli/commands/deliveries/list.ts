import type { Command } from "commander";
import { listDeliveries, type StoredDelivery } from "../../../ledger/mod.ts";
import type { Cli } from "../../program/cli.ts";
import {
  jsonOption,
  ledgerOptions,
  limitOption,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { printList } from "../../program/list.ts";
import { drawTable } from "../../../resources/views/table.ts";

interface ListFlags extends SharedFlags {
  readonly limit?: number;
  readonly quarantined?: boolean;
}

/** `deliveries list`. */
export function addList(deliveries: Command, cli: Cli): void {
  const command = deliveries.command("list").description(
    "list deliveries, newest first",
  );
  jsonOption(
    limitOption(ledgerOptions(command), "deliveries"),
    "one object a line",
  )
    .option(
      "--quarantined",
      "only bodies that are not a JSON object with a type",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit deliveries list --quarantined --limit 20",
    )
    .action(cli.run(async (flags: ListFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        const found = listDeliveries(ledger.driver, {
          quarantined: flags.quarantined === true,
        });
        await printList(cli.io, flags, found, {
          none: "No deliveries",
          json: (delivery) => delivery,
          table: deliveryTable,
        });
      });
    }));
}

function deliveryTable(
  deliveries: readonly StoredDelivery[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "Delivery", whole: true },
      { title: "Received", whole: true, spare: 1 },
      { title: "Type" },
      { title: "Order", whole: true, spare: 2 },
      { title: "User", whole: true, spare: 3 },
      { title: "Bytes", align: "right", spare: 4 },
    ],
    deliveries.map((one) => [
      one.id,
      one.receivedAt,
      one.type ?? "(quarantined)",
      one.orderId ?? "",
      one.userId ?? "",
      one.bytes === null ? "erased" : String(one.bytes),
    ]),
    columns,
  );
}
