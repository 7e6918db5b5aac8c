import { base64 } from "@scure/base";
import type { Command } from "commander";
import type { Cli } from "../../program/cli.ts";
import { CommandError } from "../../../settings/errors.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import {
  deliveryDetail,
  type DeliveryDetailJson,
} from "../../../resources/queries/deliveries.ts";
import { labelled } from "../../../resources/views/text.ts";
import { printableJson } from "../../../core/printable.ts";

/** `deliveries show`. */
export function addShow(deliveries: Command, cli: Cli): void {
  const command = deliveries.command("show").argument(
    "<id>",
    "id of a delivery, as `deliveries list` shows it",
  ).description(
    "show one delivery: its ids, what is unusual about it, its bytes",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit deliveries show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        const delivery = await deliveryDetail(ledger, id);
        if (delivery === null) {
          throw new CommandError(
            `No such delivery: the ledger has no delivery "${id}"`,
            "not_found",
          );
        }
        if (flags.json) return jsonLine(cli.io, delivery);
        lines(
          cli.io,
          labelled([
            ["Delivery", delivery.id],
            ["Position", String(delivery.position)],
            ["Received", delivery.receivedAt],
            ["Type", delivery.type ?? "none: it is quarantined"],
            ["Order", delivery.orderId],
            ["User", delivery.userId],
            ["Click id", delivery.clickId],
            ["Odd", delivery.reasons.join("; ")],
            ["Bytes", delivery.bytes === null ? "erased" : `${delivery.bytes}`],
            ...bodyRows(delivery),
          ], cli.io.columns),
        );
      });
    }));
}

/** Bytes of a body that people are shown; scripts get all of it. */
const SHOWN_BYTES = 4096;

/** The body as one JSON string, in which a terminal finds nothing to obey. */
function bodyRows(
  { text, base64: bytes }: DeliveryDetailJson,
): [string, string][] {
  if (bytes === null) return [];
  const body = base64.decode(bytes);
  const cut = body.length > SHOWN_BYTES;
  const start = body.subarray(0, SHOWN_BYTES);
  return [
    text === null ? ["Body (base64)", base64.encode(start)] : [
      "Body",
      printableJson(cut ? new TextDecoder().decode(start) : text),
    ],
    ...(cut
      ? [["", `The first ${SHOWN_BYTES} bytes; --json has all`] as [
        string,
        string,
      ]]
      : []),
  ];
}
