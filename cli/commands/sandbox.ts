import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { serveSandbox } from "../../sandbox/mod.ts";
import { readConfig } from "../../core/settings/config.ts";
import { VARIABLES } from "../../core/settings/settings.ts";
import { type Cli, type Io, jsonLine, line, note } from "../program/io.ts";
import {
  jsonOption,
  settingOption,
  settingOptions,
} from "../program/options.ts";
import { aborted, wholeNumber } from "../../core/settings/values.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { listening } from "../../server/http/listening.ts";

interface SandboxFlags {
  readonly port: number;
  readonly host: string;
  readonly seed: number;
  readonly allowHost?: readonly string[];
  readonly webhookUrl?: string;
  readonly json?: boolean;
}

/** Where the service in a box is reached. */
export interface SandboxPlaces {
  /** Address of its API. */
  readonly url: string;
  /** Its page of controls. */
  readonly control: string;
  /** The API key that was made; null where one is configured. */
  readonly apiKey: string | null;
  /** Where it sends webhooks, without the secret; null where it sends none. */
  readonly webhooksTo: string | null;
}

/** `sandbox`: the service in a box, over HTTP. */
export function addSandbox(program: Command, cli: Cli): void {
  const command = program.command("sandbox").summary(
    "run a local simulation of the service",
  ).description(
    "run a local simulation of the service: API, widget, webhooks and faults",
  );
  settingOption(command, "port", { fallback: 8788 });
  jsonOption(settingOptions(command, "host"), "one object")
    .option(
      "--allow-host <name...>",
      "host names of the sandbox, besides localhost and --host",
    )
    .option(
      "--seed <n>",
      "seed of ids and faults",
      (text) => wholeNumber(0, 2 ** 32 - 1)("--seed", text),
      1,
    )
    .option(
      "--webhook-url <url>",
      "where webhooks go, secret included (default: to a `serve` on port 8787 with the secret in RAMPKIT_WEBHOOK_SECRET)",
    )
    .addHelpText(
      "after",
      "\nExample:\n  rampkit sandbox --webhook-url http://127.0.0.1:8787/webhooks/SECRET",
    )
    .action(cli.run((flags: SandboxFlags) => sandbox(cli.io, flags)));
}

async function sandbox(io: Io, flags: SandboxFlags): Promise<void> {
  const config = readConfig(io.env);
  const [secret] = config.webhookSecrets;
  const webhookUrl = flags.webhookUrl ??
    (secret === undefined ? null : `http://127.0.0.1:8787/webhooks/${secret}`);
  const target = webhookUrl === null ? null : URL.parse(webhookUrl);
  if (webhookUrl !== null && target === null) {
    throw new UsageError("Wrong --webhook-url: it is not an http address");
  }
  await using server = await listening(
    "the sandbox",
    flags.port,
    () =>
      serveSandbox(defined({
        port: flags.port,
        hostname: flags.host,
        allowedHosts: flags.allowHost,
        seed: flags.seed,
        webhookUrl,
        apiKey: config.apiKey ?? undefined,
        partnerId: config.partnerId ?? undefined,
      })),
  );
  // A key that was configured is a secret; one made here is not.
  const made = config.apiKey === null ? server.sandbox.apiKey : null;
  if (flags.json) {
    jsonLine<SandboxPlaces>(io, {
      url: server.url,
      control: `${server.url}/control`,
      apiKey: made,
      webhooksTo: target?.origin ?? null,
    });
  } else {
    line(io, `The service in a box: ${server.url}/control`);
    const { url, sandbox: { partnerId } } = server;
    const key = made === null ? "" : `${VARIABLES.apiKey}=${made} `;
    line(
      io,
      `  export ${VARIABLES.baseUrl}=${url} ${VARIABLES.widgetOrigin}=${url}`,
    );
    line(io, `  export ${key}${VARIABLES.partnerId}=${partnerId}`);
    line(
      io,
      target === null
        ? "  webhooks go nowhere yet: set RAMPKIT_WEBHOOK_SECRET or --webhook-url"
        : `  webhooks go to ${target.origin}`,
    );
    line(io, "It stores nothing; stop it with Ctrl-C");
  }
  await aborted(io.signal);
  note(io, "Stopped: orders and users of the sandbox are gone");
}
