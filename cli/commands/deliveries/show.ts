import { base64 } from "@scure/base";
import { messageOf } from "../../../core/guards.ts";
import type { Command } from "commander";
import { readDelivery } from "../../../ledger/mod.ts";
import { parseWebhook } from "../../../webhooks/mod.ts";
import type { Cli } from "../../program/cli.ts";
import { CommandError } from "../../program/exit_codes.ts";
import { jsonLine, lines } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { withReadLedger } from "../../program/with_ledger.ts";
import { labelled } from "../../views/labelled.ts";
import { printableJson } from "../../views/printable.ts";

/** `deliveries show`. */
export function addShow(deliveries: Command, cli: Cli): void {
  const command = deliveries.command("show").argument(
    "<id>",
    "id of a delivery, as `deliveries list` shows it",
  ).description("show one delivery: what it names, why it is odd, its bytes");
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit deliveries show 01KA00000000000000000000 --json",
    )
    .action(cli.run(async (id: string, flags: SharedFlags) => {
      await withReadLedger(cli.io, flags, async (ledger) => {
        const found = await readDelivery(ledger.driver, id);
        if (found === null) {
          throw new CommandError(
            `No such delivery: the ledger has no delivery "${id}"`,
          );
        }
        const { body, ...delivery } = found;
        const text = body === null ? null : utf8(body);
        const reasons = body === null ? [] : reasonsOf(body);
        if (flags.json) {
          return jsonLine(cli.io, {
            ...delivery,
            reasons,
            text,
            base64: body === null ? null : base64.encode(body),
          });
        }
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
            ["Odd", reasons.join("; ")],
            ["Bytes", delivery.bytes === null ? "erased" : `${delivery.bytes}`],
            ...bodyRows(body, text),
          ], cli.io.columns),
        );
      });
    }));
}

/** Bytes of a body that people are shown; scripts get all of it. */
const SHOWN_BYTES = 4096;

/** The body as one JSON string, in which a terminal finds nothing to obey. */
function bodyRows(
  body: Uint8Array<ArrayBuffer> | null,
  text: string | null,
): [string, string][] {
  if (body === null) return [];
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

/** The text of a body; null when its bytes are not UTF-8. */
function utf8(body: Uint8Array<ArrayBuffer>): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(body);
  } catch {
    return null;
  }
}

function reasonsOf(body: Uint8Array<ArrayBuffer>): readonly string[] {
  try {
    const webhook = parseWebhook(body);
    return webhook.type === "unrecognised" ? webhook.reasons : [];
  } catch (error) {
    return [messageOf(error)];
  }
}
