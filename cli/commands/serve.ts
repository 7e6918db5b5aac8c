import type { Command } from "commander";
import { createPoller, type Ledger } from "../../ledger/mod.ts";
import { fileSpool, webhookEndpoint } from "../../webhooks/mod.ts";
import {
  type Config,
  readConfig,
  requireWebhookSecrets,
  VARIABLES,
} from "../config.ts";
import { AppendWatch } from "../append_watch.ts";
import { Follower } from "../follower.ts";
import { httpApp } from "../http_app.ts";
import type { Io } from "../io.ts";
import { type ServiceMetrics, serviceMetrics } from "../metrics.ts";
import { jsonLog, type Log, messageOf } from "../logger.ts";
import {
  ledgerOptions,
  serviceOptions,
  settingOption,
  type SharedFlags,
  wholeNumber,
} from "../options.ts";
import type { Cli } from "../cli.ts";
import { listening } from "../listening.ts";
import { readinessOf } from "../readiness.ts";
import { redact } from "../redact.ts";
import { serviceClient } from "../service.ts";
import { spoolDirectory } from "../spool_directory.ts";
import { aborted } from "../stoppable.ts";
import { openConfigured } from "../with_ledger.ts";

interface ServeFlags extends SharedFlags {
  readonly port: number;
  readonly host: string;
  readonly poll: boolean;
  readonly rate?: number;
  readonly allow?: readonly string[];
}

/** `serve`: endpoint, projection and poller in one process. */
export function addServe(program: Command, cli: Cli): void {
  const command = program.command("serve").summary(
    "take webhooks, fold them, and poll the service",
  ).description(
    "take webhooks, fold them, and poll the service, in one process",
  );
  settingOption(
    serviceOptions(ledgerOptions(command)),
    "--spool-dir <dir>",
    "where deliveries wait while the database cannot take them (RAMPKIT_SPOOL_DIR; default: beside a database file, else rampkit-spool)",
  )
    .option(
      "--port <port>",
      "port to listen on, 0 for a free one",
      wholeNumber("--port", 0, 65_535),
      8787,
    )
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--no-poll", "do not ask the service, only listen")
    .option(
      "--rate <n>",
      "requests a second to the service",
      wholeNumber("--rate", 1, 1000),
    )
    .option(
      "--allow <address...>",
      "take webhooks only from these addresses or CIDR ranges",
    )
    .addHelpText(
      "after",
      "\nIt writes a log to standard error, one JSON object a line. Ctrl-C lets\nrequests under way finish, folds what is stored, and exits with 0.\nMake the secret once, and keep it: openssl rand -hex 24\n\nExample:\n  RAMPKIT_WEBHOOK_SECRET=SECRET rampkit serve --port 8787",
    )
    .action(cli.run((flags: ServeFlags) => serve(cli.io, flags)));
}

async function serve(io: Io, flags: ServeFlags): Promise<void> {
  const config = readConfig(io.env, flags);
  const secrets = requireWebhookSecrets(config);
  const log = jsonLog((text) => io.err(redact(text, io.env)), io.now);
  const ledger = await openConfigured(config, io);
  try {
    await serveLedger(io, flags, { config, secrets, log, ledger });
  } finally {
    await ledger.close();
  }
}

async function serveLedger(
  io: Io,
  flags: ServeFlags,
  { config, secrets, log, ledger }: {
    config: Config;
    secrets: readonly string[];
    log: Log;
    ledger: Ledger;
  },
): Promise<void> {
  warn(config, flags, log);
  const spool = await fileSpool({ directory: spoolDirectory(config) });
  const measured = serviceMetrics();
  const watch = new AppendWatch(io.now);
  const append = watch.watching(measured.timed(ledger.appendDelivery));
  await using follower = new Follower({
    catchUp: async (signal, pace) => {
      await ledger.project({ signal, pace });
      await ledger.chain({ signal, pace });
      measured.lag(await ledger.lag());
    },
    onError: (error) =>
      log("error", "projection failed", { message: messageOf(error) }),
  });
  const endpoint = webhookEndpoint({
    append: async (delivery) => {
      await append(delivery);
      follower.wake();
    },
    unanswered: (unanswered) => ledger.recordUnanswered(unanswered),
    secrets,
    now: io.now,
    spool,
    ...(flags.allow === undefined ? {} : { allowlist: flags.allow }),
    log: ({ level, code, at: _, ...fields }) => {
      if (level !== "debug") log(level, code, fields);
    },
  });
  const polls = flags.poll && config.apiKey !== null;
  const server = listening("the endpoint", flags.port, () =>
    Deno.serve(
      {
        port: flags.port,
        hostname: flags.host,
        onListen: ({ hostname, port }) =>
          log("info", "listening", {
            url: `http://${hostname}:${port}`,
            webhooks: "/webhooks/{secret}",
            environment: ledger.environment,
            polling: polls,
          }),
      },
      httpApp({
        endpoint,
        readiness: () => readinessOf(() => ledger, spool.depth, watch.problem),
      }),
    ));
  const polling = polls
    ? poll(io, flags, { config, ledger, log, measured })
    : null;
  await aborted(io.signal);
  log("info", "stopping");
  await quiet(() => endpoint.stats().inFlight);
  await server.shutdown();
  await endpoint.drain();
  await spool.close();
  await polling;
  log("info", "stopped");
}

/** Longest that requests under way are waited for when stopping, ms. */
const QUIET_LIMIT_MS = 5000;

/**
 * Waits until no delivery is under way. Shutting the server down at once would
 * cut off bodies that are still arriving.
 */
async function quiet(underWay: () => number): Promise<void> {
  const until = performance.now() + QUIET_LIMIT_MS;
  while (underWay() > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function warn(config: Config, flags: ServeFlags, log: Log): void {
  if (flags.poll && config.apiKey === null) {
    log("warn", "no API key", {
      effect:
        "Webhooks are kept, but nothing is confirmed and lost ones are not found",
      advice: `Set ${VARIABLES.apiKey}, or say --no-poll`,
    });
  }
}

function poll(
  io: Io,
  flags: ServeFlags,
  { config, ledger, log, measured }: {
    config: Config;
    ledger: Ledger;
    log: Log;
    measured: ServiceMetrics;
  },
): Promise<void> {
  const client = serviceClient(
    config,
    ledger.environment,
    flags.rate === undefined ? {} : { requestsPerSecond: flags.rate },
  );
  const poller = createPoller({
    ledger,
    client,
    now: io.now,
    onError: (error) =>
      log("error", "poll failed", { message: messageOf(error) }),
    onWatch: measured.delivery,
    onAlert: (health) => {
      log(
        health.deliverySuspected ? "error" : "info",
        "webhook delivery",
        { message: health.detail },
      );
    },
  });
  return poller.run(io.signal);
}
