import type { Command } from "commander";
import { type Cli, jsonLine, line, note } from "../program/io.ts";
import {
  readConfig,
  requireWebhookSecrets,
} from "../../core/settings/config.ts";
import { CommandError, EXIT, UsageError } from "../../core/settings/errors.ts";
import { jsonOption } from "../program/options.ts";
import { isStop } from "../../core/settings/values.ts";

interface SendFlags {
  readonly to: string;
  readonly order?: string;
  readonly type?: string;
  readonly json?: boolean;
}

/** What the endpoint answered. */
export interface Sent {
  /** Address of the endpoint, without path and secret. */
  readonly to: string;
  /** Status of the answer. */
  readonly status: number;
  /** Time until the answer, in milliseconds. */
  readonly tookMs: number;
}

/** `webhook send`. */
export function addSend(webhook: Command, cli: Cli): void {
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
    .option(
      "--type <type>",
      `type of the order's event (default: ${DEFAULT_TYPE})`,
    )
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
          refuseUnused(body, flags);
          const [secret] = requireWebhookSecrets(readConfig(cli.io.env));
          const to = URL.parse(flags.to);
          if (to === null) {
            throw new UsageError(`Wrong --to: "${flags.to}" is not an address`);
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
          if (flags.json) {
            jsonLine<Sent>(cli.io, { to: to.origin, status, tookMs });
          } else line(cli.io, `${status} from ${to.origin} in ${tookMs} ms`);
          if (status === 404) note(cli.io, WRONG_SECRET);
          return answer.ok ? EXIT.fine : EXIT.failed;
        },
      ),
    );
}

/** Type of an order's event unless one is named. */
const DEFAULT_TYPE = "order_complete";

/** An endpoint tells a sender without the secret no more than this. */
const WRONG_SECRET =
  "404 means that the endpoint has another secret than the first of " +
  "RAMPKIT_WEBHOOK_SECRET, or does not take webhooks from this address " +
  "(--allow), or that something else listens there";

/** @throws {UsageError} When a flag would count for nothing. */
function refuseUnused(
  body: string | undefined,
  { order, type }: SendFlags,
): void {
  if (type !== undefined && order === undefined) {
    throw new UsageError(
      `Wrong --type: "${type}" is the type of an order's event; name the ` +
        "order with --order ID",
    );
  }
  if (body !== undefined && order !== undefined) {
    throw new UsageError(
      `Wrong --order: "${order}" is for an event that is made here, and a ` +
        "body is given; leave one of them out",
    );
  }
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
        "stopped",
      );
    }
    const why = error instanceof DOMException && error.name === "TimeoutError"
      ? "no answer within 5 seconds"
      : "cannot connect; is the endpoint running there?";
    throw new CommandError(`Cannot send to ${shown}: ${why}`);
  }
}

function sample({ order, type = DEFAULT_TYPE }: SendFlags): string {
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
