import type { Command } from "commander";
import { ulid } from "ulid";
import { isRecord } from "../../../core/guards.ts";
import {
  bodyValue,
  classify,
} from "../../../core/webhook_event/classify_body.ts";
import { webhookEndpoint } from "../../../webhooks/mod.ts";
import { webhookEvent } from "../../../ledger/for_cli.ts";
import type { Cli } from "../../program/cli.ts";
import { EXIT, UsageError } from "../../../settings/errors.ts";
import { byteLines, openInput } from "../../program/input.ts";
import { type Io, jsonLine, line } from "../../program/io.ts";
import {
  jsonOption,
  ledgerOptions,
  type SharedFlags,
} from "../../program/options.ts";
import { stoppable } from "../../../settings/stoppable.ts";
import { withLedger } from "../../program/with_ledger.ts";
import { operands } from "../../../resources/views/shell_word.ts";
import { progress } from "../../program/progress.ts";

/** How many bodies were stored, and which lines were refused. */
export interface Replayed {
  /** Bodies that were stored. */
  readonly replayed: number;
  /** Those of them that are none of the documented events. */
  readonly unrecognised: number;
  /** Numbers of the lines that were refused, from 1. */
  readonly refusedLines: readonly number[];
  /** Position of the last event. */
  readonly position: number;
}

/** `webhook replay`. */
export function addReplay(webhook: Command, cli: Cli): void {
  const command = webhook.command("replay").argument(
    "<file>",
    "one webhook body a line (NDJSON), or - for standard input",
  ).description(
    "feed webhook bodies through the endpoint's code into the ledger, then " +
      "fold and chain them",
  );
  jsonOption(ledgerOptions(command), "one object")
    .addHelpText("after", "\nExample:\n  rampkit webhook replay bodies.ndjson")
    .action(
      cli.run((file: string, flags: SharedFlags) =>
        replay(cli.io, file, flags)
      ),
    );
}

/** How many bodies are under way at once: enough to share their commits. */
const REPLAY_WINDOW = 256;

async function replay(
  io: Io,
  file: string,
  flags: SharedFlags,
): Promise<number> {
  const { signal } = io;
  const input = await openInput(file, signal);
  return await withLedger(io, flags, async (ledger) => {
    // The endpoint's own code takes each body, so that a replay stores what a
    // delivery would have stored; the secret never leaves this function.
    const secret = ulid();
    const endpoint = webhookEndpoint({
      // What is replayed has happened: the ledger does not go live with it.
      append: (delivery) =>
        ledger.append([
          webhookEvent(delivery, crypto.getRandomValues(new Uint8Array(16))),
        ]),
      secrets: [secret],
      now: io.now,
    });
    using bar = progress(io, "bodies stored", !flags.json);
    let sent = 0;
    let unrecognised = 0;
    let number = 0;
    const refused: number[] = [];
    const deliver = async (body: Uint8Array, number: number) => {
      const answer = await endpoint(
        new Request(`http://replay.invalid/webhooks/${secret}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: body as Uint8Array<ArrayBuffer>,
        }),
      );
      if (answer.status !== 204) return void refused.push(number);
      bar.at(++sent);
      if (classify(bodyValue(body)).why !== null) unrecognised++;
    };
    await stoppable(
      signal,
      async () => {
        let window: Promise<void>[] = [];
        try {
          for await (const body of byteLines(input)) {
            signal.throwIfAborted();
            number++;
            if (number === 1) refuseExport(body);
            if (body.length === 0) continue;
            window.push(deliver(body, number));
            if (window.length < REPLAY_WINDOW) continue;
            await Promise.all(window);
            window = [];
          }
        } finally {
          // Even when stopped, store what is under way.
          await Promise.all(window);
          await endpoint.drain();
          bar.end();
        }
        await ledger.project({ signal });
      },
      () =>
        number === 0
          ? "no body was read, and none is stored"
          : `the bodies of lines 1 to ${number} are stored` +
            (refused.length === 0
              ? ""
              : `, except those refused (lines ${refused.join(", ")})`) +
            ", and the next command that reads folds them; go on with: " +
            `tail -n +${number + 1} FILE | rampkit webhook replay -`,
    );
    const stats = await ledger.stats();
    if (flags.json) {
      jsonLine<Replayed>(io, {
        replayed: sent,
        unrecognised,
        refusedLines: refused,
        position: stats.position,
      });
    } else {
      line(
        io,
        `Replayed ${sent} bodies; the last event is at position ${stats.position}`,
      );
      if (unrecognised > 0) {
        line(
          io,
          `None of the documented events: ${unrecognised} of them; see why ` +
            `with: rampkit webhook parse ${operands(file)}`,
        );
      }
      for (const at of refused) {
        line(io, `Line ${at} was refused: too large, or the ledger was busy`);
      }
    }
    return refused.length === 0 ? EXIT.fine : EXIT.failed;
  });
}

/**
 * What is stored stays for ever, so the events of another ledger are not to be
 * taken for webhook bodies.
 *
 * @throws {UsageError} When the first line is the header of an export.
 */
function refuseExport(line: Uint8Array): void {
  const value = bodyValue(line);
  if (!isRecord(value) || value.rampkit !== "events") return;
  throw new UsageError(
    "Wrong <file>: it holds events that `ledger export` wrote, not webhook " +
      "bodies; take it in with: rampkit ledger import FILE",
  );
}
