import type { Command } from "commander";
import { ulid } from "ulid";
import { parseWebhook, webhookEndpoint } from "../../webhooks/mod.ts";
import { readConfig, requireWebhookSecrets } from "../config.ts";
import { CommandError, EXIT, UsageError } from "../exit_codes.ts";
import { type Io, jsonLine, line } from "../io.ts";
import { openInput } from "../input.ts";
import { byteLines } from "../lines.ts";
import { jsonOption, ledgerOptions, type SharedFlags } from "../options.ts";
import { progress } from "../progress.ts";
import type { Cli } from "../cli.ts";
import { isStop, stoppable } from "../stoppable.ts";
import { withLedger } from "../with_ledger.ts";

/** `webhook send | replay | parse`. */
export function addWebhook(program: Command, cli: Cli): void {
  const webhook = program.command("webhook").summary(
    "send, replay and read webhook bodies",
  ).description(
    "send, replay and read webhook bodies",
  );
  addReplay(webhook, cli);
  addSend(webhook, cli);
  addParse(webhook, cli);
}

function addReplay(webhook: Command, cli: Cli): void {
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
      append: ledger.appendDelivery,
      secrets: [secret],
      now: io.now,
    });
    using bar = progress(io, "bodies stored", !flags.json);
    let sent = 0;
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
      if (answer.status === 204) bar.at(++sent);
      else refused.push(number);
    };
    await stoppable(
      signal,
      async () => {
        let window: Promise<void>[] = [];
        try {
          for await (const body of byteLines(input)) {
            signal.throwIfAborted();
            number++;
            if (body.length === 0) continue;
            window.push(deliver(body, number));
            if (window.length < REPLAY_WINDOW) continue;
            await Promise.all(window);
            window = [];
          }
        } finally {
          // Stopped or not: what is under way is stored.
          await Promise.all(window);
          await endpoint.drain();
          bar.end();
        }
        await ledger.project({ signal });
        await ledger.chain({ signal });
      },
      () =>
        number === 0
          ? "no body was read, and none is stored"
          : `the bodies of lines 1 to ${number} are stored` +
            (refused.length === 0
              ? ""
              : `, but for those refused (lines ${refused.join(", ")})`) +
            ", and the next command that reads folds them; go on with: " +
            `tail -n +${number + 1} FILE | rampkit webhook replay -`,
    );
    const stats = await ledger.stats();
    if (flags.json) {
      jsonLine(io, {
        replayed: sent,
        refusedLines: refused,
        position: stats.position,
      });
    } else {
      line(
        io,
        `Replayed ${sent} bodies; the last event is at position ${stats.position}`,
      );
      for (const at of refused) {
        line(io, `Line ${at} was refused: too large, or the ledger was busy`);
      }
    }
    return refused.length === 0 ? EXIT.fine : EXIT.failed;
  });
}

function addSend(webhook: Command, cli: Cli): void {
  const command = webhook.command("send").argument(
    "[body]",
    "JSON body; without it a test event",
  ).description("post one webhook to an endpoint, as the service would");
  jsonOption(command, "one object")
    .option(
      "--to <url>",
      "address of the endpoint, without path and secret",
      "http://127.0.0.1:8787",
    )
    .option(
      "--order <id>",
      "send this order's event instead of a test event",
    )
    .option("--type <type>", "type of the order's event", "order_complete")
    .addHelpText(
      "after",
      "\nThe secret comes from RAMPKIT_WEBHOOK_SECRET.\n\nExample:\n  rampkit webhook send --order 01KA00000000000000000000 --type payment_started",
    )
    .action(
      cli.run(
        async (
          body: string | undefined,
          flags: SendFlags,
        ) => {
          const [secret] = requireWebhookSecrets(readConfig(cli.io.env));
          const to = URL.parse(flags.to);
          if (to === null) {
            throw new UsageError(`Wrong --to: "${flags.to}" is no address`);
          }
          const started = cli.io.now();
          const answer = await post(
            `${to.origin}/webhooks/${secret}`,
            body ?? sample(flags),
            to.origin,
            cli.io.signal,
          );
          const tookMs = cli.io.now() - started;
          const { status } = answer;
          if (flags.json) jsonLine(cli.io, { to: to.origin, status, tookMs });
          else line(cli.io, `${status} from ${to.origin} in ${tookMs} ms`);
          return answer.ok ? EXIT.fine : EXIT.failed;
        },
      ),
    );
}

interface SendFlags {
  readonly to: string;
  readonly order?: string;
  readonly type: string;
  readonly json?: boolean;
}

async function post(
  url: string,
  body: string,
  shown: string,
  signal: AbortSignal,
): Promise<Response> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
    });
    await answer.body?.cancel();
    return answer;
  } catch (error) {
    // The address in the original message holds the secret.
    if (isStop(error, signal)) {
      throw new CommandError(
        "Stopped: no answer came; the endpoint may have stored the webhook",
      );
    }
    const why = error instanceof DOMException && error.name === "TimeoutError"
      ? "no answer within 5 seconds"
      : "cannot connect; is the endpoint running there?";
    throw new CommandError(`Cannot send to ${shown}: ${why}`);
  }
}

function sample({ order, type }: { order?: string; type: string }): string {
  if (order === undefined) {
    return JSON.stringify({
      type: "test",
      click_id: "test_click_id",
      order: { id: "", base: "USDC", base_amount: "1", quote: "USD" },
    });
  }
  return JSON.stringify({
    type,
    click_id: "",
    order: {
      id: order,
      transaction_id: /complete|transfer/.test(type) ? "0x0" : null,
    },
  });
}

function addParse(webhook: Command, cli: Cli): void {
  webhook.command("parse").argument(
    "<file>",
    "one webhook body a line, or - for standard input",
  ).description(
    "say how the ledger reads webhook bodies, as JSON, one object a line; " +
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
