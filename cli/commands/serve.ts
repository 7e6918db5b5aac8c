import type { Command } from "commander";
import { defined } from "../../core/guards.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import {
  type ApiFlags,
  type BackupFlags,
  backupPlan,
  configuredApi,
  configuredConsole,
  forwardingOf,
  regularBackups,
  type ServeConsoleFlags,
} from "../serve_flags/serve_flags.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { readNotify } from "../../server/alarms/notify_targets.ts";
import { watchHealth } from "../../server/alarms/alarm_sender.ts";
import { type Finding, found } from "../../resources/health/finding.ts";
import type { RegularBackups } from "../../server/ledger_file/regular_backups.ts";
import { lookAtBaseUrl } from "../../server/health/service_health.ts";
import { composeService } from "../../server/compose/compose_service.ts";
import { composeWitness } from "../../server/compose/compose_witness.ts";
import { openEarly, reachLedger } from "../../server/compose/open_early.ts";
import { ANSWERED_503, KEPT_IN_SPOOL } from "../../server/compose/readiness.ts";
import { holdLedger } from "../../server/ledger_file/ledger_lock.ts";
import { openConfigured } from "../../server/ledger_file/open_configured.ts";
import { spoolDirectory } from "../../server/ledger_file/spool_directory.ts";
import { jsonLog } from "../../server/monitoring/logger.ts";
import { WaitingOrders } from "../../server/monitoring/waiting_orders.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import { PrometheusMetrics } from "../../server/monitoring/prometheus/prometheus_metrics.ts";
import type { Cli, Io } from "../program/io.ts";
import {
  givenEnv,
  readConfig,
  requireWebhookSecrets,
} from "../../core/settings/config.ts";
import {
  contradictedAfterOption,
  ledgerOptions,
  serviceOptions,
  settingOptions,
  type SharedFlags,
} from "../program/options.ts";
import { type FlagsOf, redact } from "../../core/settings/settings.ts";
import { aborted } from "../../core/settings/values.ts";
import {
  type AdmissionFlags,
  admissionOf,
} from "../../server/http/admission.ts";
import { ActivityPrinter } from "../listen/activity_printer.ts";
import { httpApp } from "../../server/http/http_app.ts";
import { isLoopback, listening, urlOf } from "../../server/http/listening.ts";
import { openSpool } from "../../server/http/open_spool.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import type { HttpServerOptions } from "../../core/serving/http_server.ts";

type ServeFlags =
  & SharedFlags
  & BackupFlags
  & ServeConsoleFlags
  & ApiFlags
  & AdmissionFlags
  & FlagsOf<"rate" | "verbose" | "goLive">
  & {
    readonly port: number;
    readonly host: string;
    readonly poll: boolean;
    readonly contradictedAfter: number;
  };

/** `serve`: endpoint, projection and poller in one process. */
export function addServe(program: Command, cli: Cli): void {
  const command = program.command("serve").summary(
    "receive webhooks, fold them, and poll the service",
  ).description(
    "receive webhooks, fold them into states, and poll the service, in one process",
  );
  contradictedAfterOption(settingOptions(
    serviceOptions(ledgerOptions(command)),
    ...["spoolDir", "port", "host", "poll", "rate", "allow"] as const,
    ...["clientAddressHeader", "trustedProxies", "goLive", "verbose"] as const,
    ...["backupTo", "every", "keep", "forwardTo", "notify"] as const,
    ...["console", "consoleHost", "consoleAllowHost"] as const,
    ...["apiPort", "apiHost", "apiAllowHost"] as const,
  ))
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
  const forward = forwardingOf(config);
  const notified = readNotify(config);
  const serveApi = configuredApi(flags, config);
  const secrecy = givenEnv(flags, io.env);
  const log = jsonLog((text) => io.err(redact(text, secrecy)), io.now);
  const prometheus = new PrometheusMetrics();
  const metrics = serviceMetrics({ prometheus, time: io.now });
  const printer = flags.verbose ? new ActivityPrinter(io, false) : undefined;
  const onAnswer = printer?.answered;
  const receiving = { secrets, log, metrics, now: io.now, admission, onAnswer };
  const listen = async (
    handler: HttpServerOptions["handler"],
    fields: Readonly<Record<string, unknown>> = {},
  ) => {
    const { port, host: hostname } = flags;
    const onDropped = seldom(
      () => log("warn", "idle_connections_closed"),
      io.now,
    );
    const server = await listening(
      "the endpoint",
      port,
      () => openHttpServer({ port, hostname, handler, onDropped }),
    );
    log("info", "listening", {
      url: urlOf(hostname, server.port),
      webhooks: "/webhooks/{secret}",
      ...fields,
    });
    if (!isLoopback(hostname)) log("warn", "listening_publicly");
    return server;
  };
  using held = await holdLedger(config);
  let goLive = "";
  const reached = await reachLedger({
    open: async () => {
      const opened = await openConfigured(config, io);
      try {
        goLive = await liveFrom(opened, flags.goLive);
        return opened;
      } catch (error) {
        await opened.close();
        throw error;
      }
    },
    meanwhile: async (problem) =>
      await openEarly({
        ...defined(receiving),
        spool: await openSpool(config, { log, metrics }),
        problem,
        metricsText: () => prometheus.text(),
        listen,
      }),
    effect: spoolDirectory(config) === null ? ANSWERED_503 : KEPT_IN_SPOOL,
    log,
    now: io.now,
    signal: io.signal,
  });
  if (reached === null) return log("info", "stopped");
  await using ledger = reached.ledger;
  await using early = reached.early;
  held.announce(backupPlan(flags));
  for (const { detail } of lookAtBaseUrl(config, ledger.environment)) {
    log("warn", "base_url_loopback", { message: detail });
  }
  const witness = await composeWitness({ config, ledger, log, now: io.now });
  await using service = composeService(defined({
    ...receiving,
    config,
    ledger,
    longLived: true,
    poll: flags.poll,
    requestsPerSecond: flags.rate,
    contradictedAfterMs: flags.contradictedAfter * 60_000,
    ...(early === null
      ? { spool: await openSpool(config, { log, metrics }) }
      : { spool: early.spool, reception: early.reception }),
  }));
  const { endpoint, poller, refusals, readiness } = service;
  const open = () => openConfigured(config, io);
  const regular = backups?.({ open, log, metrics, now: io.now });
  const health = watchHealth(defined({
    ledger,
    config,
    log,
    metrics,
    now: io.now,
    plan: backupPlan(flags),
    own: async () => [
      ...await service.health(),
      ...witness?.health() ?? [],
      ...backupFindings(regular),
    ],
    alarms: {
      targets: [...forward?.alarms(ledger) ?? [], ...notified(ledger.id)],
    },
  }));
  const app = httpApp({
    endpoint,
    onWrongPath: refusals.wrongPath,
    readiness: () => readiness(health.monitor.latest),
    metrics: () => prometheus.text(),
  });
  const server = early?.handOver(app) ?? await listen(app, {
    environment: ledger.environment,
    goLive,
    polling: poller !== null,
  });
  const look = () => health.monitor.look();
  const lookAtChain = witness?.look ?? null;
  const shown = { ledger, config, log, now: io.now, look, lookAtChain };
  const api = await serveApi?.(
    defined({ ...shown, metrics, poller, requestsPerSecond: flags.rate }),
  );
  const pages = await openPages?.(shown);
  const polling = poller?.run(io.signal);
  const looking = witness?.run(io.signal);
  const backing = regular?.run(io.signal);
  const reports = { ledger, log, metrics, now: io.now };
  const forwarding = forward?.run(reports, io.signal);
  const watching = health.run(io.signal);
  const waiting = new WaitingOrders({ ledger, log, now: io.now })
    .run(io.signal);
  await aborted(io.signal);
  log("info", "stopping");
  await quiet(() => endpoint.stats().inFlight);
  await server.shutdown();
  await api?.shutdown();
  await pages?.shutdown();
  await polling;
  await looking;
  await backing;
  await forwarding;
  await watching;
  await waiting;
  await service[Symbol.asyncDispose]();
  await printer?.drain();
  log("info", "stopped");
}

/** Does something at most once a minute. */
function seldom(action: () => void, now: () => number): () => void {
  let doneAt = -Infinity;
  return () => {
    if (now() - doneAt < 60_000) return;
    doneAt = now();
    action();
  };
}

/** The time from which on what is new is delivered. */
async function liveFrom(
  ledger: Ledger,
  time: string | undefined,
): Promise<string> {
  try {
    return await ledger.goLive(time);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message.replace("goLive", "--go-live"));
  }
}

/** What only the process that makes backups knows of them. */
function backupFindings(
  backups: RegularBackups | undefined,
): readonly Finding[] {
  const since = backups?.failingSince ?? null;
  return since === null ? [] : [found("backup_failing", { since })];
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
