import type { Command } from "commander";
import { parseWebhook } from "../../webhooks/mod.ts";
import { type Cli, jsonLine, openInput } from "../program/io.ts";
import { EXIT } from "../../core/settings/errors.ts";
import { byteLines } from "../../core/text.ts";

/** `webhook parse`. */
export function addParse(webhook: Command, cli: Cli): void {
  webhook.command("parse").argument(
    "<file>",
    "one webhook body a line, or - for standard input",
  ).description(
    "show how the ledger reads webhook bodies, as JSON, one object a line; " +
      "stores nothing",
  )
    .addHelpText(
      "after",
      "\nExit code 3 when a body is not recognised.\n\nExample:\n  rampkit webhook parse bodies.ndjson",
    )
    .action(cli.run(async (file: string) => {
      const { signal } = cli.io;
      let unrecognised = 0;
      for await (const body of byteLines(await openInput(file, signal))) {
        signal.throwIfAborted();
        if (body.length === 0) continue;
        const event = read(body);
        if (event.type === "unrecognised") unrecognised++;
        jsonLine(cli.io, event);
      }
      return unrecognised === 0 ? EXIT.fine : EXIT.disagreement;
    }));
}

function read(body: Uint8Array): { readonly type: string } {
  try {
    return parseWebhook(body);
  } catch (error) {
    return {
      type: "unrecognised",
      ...{ statedType: null, reasons: [(error as Error).message] },
    };
  }
}
