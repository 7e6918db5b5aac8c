import type { Command } from "commander";
import { defined } from "../../core/defined.ts";
import { sleep } from "../../core/waiting/sleep.ts";
import { type ApiFlags, apiOptions, configuredApi } from "../api/api_flags.ts";
import { composeService } from "../compose/compose_service.ts";
import { holdLedger } from "../ledger_file/ledger_lock.ts";
import { jsonLog } from "../monitoring/logger.ts";
import { serviceMetrics } from "../monitoring/metrics.ts";
import { recordMinutes } from "../monitoring/minute_recorder.ts";
import { PrometheusMetrics } from "../monitoring/prometheus/prometheus_metrics.ts";
import type { Cli } from "../program/cli.ts";
import { readConfig, requireWebhookSecrets } from "../program/config.ts";
import type { Io } from "../program/io.ts";
import {
  contradictedAfterOption,
  ledgerOptions,
  serviceOptions,
  settingOption,
  type SharedFlags,
  wholeNumber,
} from "../program/options.ts";
import { redact } from "../program/redact.ts";
import { aborted } from "../program/stoppable.ts";
import { openConfigured } from "../program/with_ledger.ts";
import { admissionOf } from "../serving/admission.ts";
import {
  type BackupFlags,
  backupOptions,
  backupPlan,
  regularBackups,
} from "../serving/backup_flags.ts";
import {
  configuredConsole,
  consoleOptions,
  type ServeConsoleFlags,
} from "../console/console_flags.ts";
import { ActivityPrinter } from "../listen/activity_printer.ts";
import {
  type ForwardFlags,
  forwardingOf,
  forwardOptions,
} from "../forwarding/forward_flags.ts";
import { httpApp } from "../serving/http_app.ts";
import { listening } from "../serving/listening.ts";
import { openSpool } from "../serving/open_spool.ts";
import { openSteadyServer } from "../serving/open_steady_server.ts";

interface ServeFlags
  extends SharedFlags, BackupFlags, ServeConsoleFlags, ForwardFlags, ApiFlags {
  readonly port: number;
  readonly host: string;
  readonly poll: boolean;
  readonly rate?: number;
  readonly contradictedAfter: number;
  readonly allow?: readonly string[];
  readonly clientAddressHeader?: string;
  readonly trustedProxies?: readonly string[];
  readonly verbose?: boolean;
}

/** `serve`: endpoint, projection and poller in one process. */
export function addServe(program: Command, cli: Cli): void {
  const command = program.command("serve").summary(
    "take webhooks, fold them, and poll the service",
  ).description(
    "take webhooks, fold them, and poll the service, in one process",
  );
  apiOptions(forwardOptions(consoleOptions(backupOptions(settingOption(
    contradictedAfterOption(serviceOptions(ledgerOptions(command))),
    "--spool-dir <dir>",
    "where deliveries are kept from their answer until the database has them (RAMPKIT_SPOOL_DIR; default: beside a database file; for a database on a server none: then it has them before the answer)",
  )))))
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
    .option(
      "--client-address-header <name>",
      "behind a proxy: the header in which it states the client's address, for example X-Forwarded-For; needs --trusted-proxies",
    )
    .option(
      "--trusted-proxies <address...>",
      "addresses or CIDR ranges of your proxies; from anybody else the header is ignored",
    )
    .option(
      "--verbose",
      "print a line for each delivery to standard output: time, type, id, amount, answer",
    )
    .addHelpText(
      "after",
      "\nIt writes a log to standard error, one JSON object a line. Ctrl-C lets\nrequests under way finish, folds what is stored, and exits with 0.\nMake the secret once, and keep it: openssl rand -hex 24\n\nExample:\n  RAMPKIT_WEBHOOK_SECRET=SECRET rampkit serve --port 8787",
    )
    .action(cli.run((flags: ServeFlags) => serve(cli.io, flags)));
}

async function serve(io: Io, flags: ServeFlags): Promise<void> {
  const admission = admissionOf(flags);
  const config = readConfig(io.env, flags);
  const secrets = requireWebhookSecrets(config);
  const backups = regularBackups(flags, config);
  const openPages = configuredConsole(flags, config);
  const forward = forwardingOf(flags, io.env);
  const serveApi = configuredApi(flags, config);
  const log = jsonLog((text) => io.err(redact(text, io.env)), io.now);
  using held = await holdLedger(config);
  await using ledger = await openConfigured(config, io);
  held.tell(backupPlan(flags));
  const prometheus = new PrometheusMetrics();
  const metrics = serviceMetrics({ prometheus, time: io.now });
  const printer = flags.verbose ? new ActivityPrinter(io, false) : undefined;
  const measured = { ledger, metrics: prometheus, now: io.now };
  await using _minutes = recordMinutes(measured);
  await using service = composeService(defined({
    config,
    secrets,
    ledger,
    log,
    metrics,
    now: io.now,
    longLived: true,
    poll: flags.poll,
    requestsPerSecond: flags.rate,
    contradictedAfterMs: flags.contradictedAfter * 60_000,
    admission,
    spool: await openSpool(config, { log, metrics }),
    onAnswer: printer?.answered,
  }));
  const { endpoint, poller, refusals, readiness } = service;
  const server = await listening(
    "the endpoint",
    flags.port,
    () =>
      openSteadyServer({
        port: flags.port,
        hostname: flags.host,
        log,
        now: io.now,
        onListen: ({ hostname, port }) =>
          log("info", "listening", {
            url: `http://${hostname}:${port}`,
            webhooks: "/webhooks/{secret}",
            environment: ledger.environment,
            polling: poller !== null,
          }),
        handler: httpApp({
          endpoint,
          onWrongPath: refusals.wrongPath,
          readiness,
          metrics: () => prometheus.text(),
        }),
      }),
  );
  const shown = { ledger, config, log, now: io.now };
  const api = await serveApi?.(
    defined({ ...shown, metrics, poller, requestsPerSecond: flags.rate }),
  );
  const pages = await openPages?.(shown);
  const polling = poller?.run(io.signal);
  const open = () => openConfigured(config, io);
  const backing = backups?.({ open, log, metrics, now: io.now }).run(io.signal);
  const alarms = { ...service, databaseUrl: config.databaseUrl };
  const told = { ledger, log, metrics, now: io.now, alarms };
  const forwarding = forward?.(told, io.signal);
  await aborted(io.signal);
  log("info", "stopping");
  await quiet(() => endpoint.stats().inFlight);
  await server.shutdown();
  await api?.shutdown();
  await pages?.shutdown();
  await polling;
  await backing;
  await forwarding;
  await service[Symbol.asyncDispose]();
  await printer?.drain();
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
  while (underWay() > 0 && performance.now() < until) await sleep(20);
}
