import type { Command } from "commander";
import { serveSandbox } from "../../sandbox/mod.ts";
import { readConfig } from "../config.ts";
import { line } from "../io.ts";
import { wholeNumber } from "../options.ts";
import type { Cli } from "../cli.ts";

interface SandboxFlags {
  readonly port: number;
  readonly host: string;
  readonly seed: number;
  readonly webhookUrl?: string;
}

/** `sandbox`: the service in a box, over HTTP. */
export function addSandbox(program: Command, cli: Cli): void {
  program.command("sandbox").description(
    "run the service in a box: its API, its widget, its webhooks, its faults",
  )
    .option(
      "--port <port>",
      "port to listen on, 0 for a free one",
      wholeNumber("--port", 0, 65_535),
      8788,
    )
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option(
      "--seed <n>",
      "seed of ids and faults",
      wholeNumber("--seed", 0, 2 ** 32 - 1),
      1,
    )
    .option("--webhook-url <url>", "where webhooks go, secret included")
    .addHelpText(
      "after",
      "\nExample:\n  rampkit sandbox --webhook-url http://127.0.0.1:8787/webhooks/SECRET",
    )
    .action(cli.run(async (flags: SandboxFlags) => {
      const config = readConfig(cli.io.env);
      const [secret] = config.webhookSecrets;
      const webhookUrl = flags.webhookUrl ??
        (secret === undefined
          ? null
          : `http://127.0.0.1:8787/webhooks/${secret}`);
      await using server = await serveSandbox({
        port: flags.port,
        hostname: flags.host,
        seed: flags.seed,
        webhookUrl,
        ...(config.apiKey === null ? {} : { apiKey: config.apiKey }),
        ...(config.partnerId === null ? {} : { partnerId: config.partnerId }),
      });
      line(cli.io, `The service in a box: ${server.url}/control`);
      line(cli.io, `  RAMPKIT_BASE_URL=${server.url}`);
      if (config.apiKey === null) {
        line(cli.io, `  RAMPKIT_API_KEY=${server.sandbox.apiKey}`);
      }
      line(
        cli.io,
        webhookUrl === null
          ? "  webhooks go nowhere yet: set RAMPKIT_WEBHOOK_SECRET or --webhook-url"
          : `  webhooks go to ${new URL(webhookUrl).origin}`,
      );
      await new Promise<void>((resolve) =>
        cli.io.signal.addEventListener("abort", () => resolve())
      );
    }));
}
