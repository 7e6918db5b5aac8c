import { messageOf } from "../../core/guards.ts";
import { type Ledger, ledgerOn, retrying } from "../../ledger/for_server.ts";
import type { ConnectionInfo } from "../../webhooks/endpoint_options.ts";
import { remoteDriver } from "../../ledger/for_deploy.ts";
import { Alarm } from "../monitoring/alarm.ts";
import { jsonLog, type Log } from "../monitoring/logger.ts";
import {
  keepCronRun,
  lookAtStored,
} from "../../resources/health/stored_health.ts";
import { type ServiceMetrics, serviceMetrics } from "../monitoring/metrics.ts";
import {
  readConfig,
  requireWebhookSecrets,
} from "../../core/settings/config.ts";
import { redact, VARIABLES } from "../../core/settings/settings.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { httpApp } from "../http/http_app.ts";
import { composeService, type Service } from "./compose_service.ts";
import { readinessOf } from "./readiness.ts";

/** What the deployed app may touch outside itself. */
export interface DeployAppOptions {
  /** Reads an environment variable. */
  readonly env: (name: string) => string | undefined;
  /** Writes to the log. */
  readonly write: (text: string) => void;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /**
   * How long one poll asks the service, ms: less than the cron's minute, so
   * that the next finds the lease free.
   *
   * @default 45000
   */
  readonly pollMs?: number;
}

/** The endpoint and the poll, ready to be mounted. */
export interface DeployApp {
  /** Answers `POST /webhooks/{secret}`, `GET /healthz` and `GET /readyz`. */
  fetch(request: Request, info?: ConnectionInfo): Promise<Response>;
  /** Asks the service for a while; does nothing without an API key. */
  poll(): Promise<void>;
  /** Waits for work under way and lets go of the database. */
  close(): Promise<void>;
}

/** The service, and the ledger to close after it. */
interface Opened {
  readonly service: Service;
  readonly ledger: Ledger;
  readonly metrics: ServiceMetrics;
}

/**
 * The endpoint on a remote ledger. The ledger is opened at the first request,
 * so that a cold start answers at once. While it cannot be opened every request
 * tries again, and webhooks are answered 503 so that the service sends them
 * again.
 */
export function deployApp(options: DeployAppOptions): DeployApp {
  const { env, now, pollMs = 45_000 } = options;
  const log = jsonLog((text) => options.write(redact(text, env)), now);
  const notReady = new Alarm(log, "not_ready", now);
  let opening: Promise<Opened> | null = null;
  const opened = () =>
    opening ??= open(options, log).then((opened) => {
      notReady.clear();
      return opened;
    }, (error) => {
      opening = null;
      notReady.raise({ message: messageOf(error) });
      throw error;
    });
  const app = httpApp({
    endpoint: async (request, info) =>
      (await opened()).service.endpoint(request, info),
    readiness: () =>
      opened().then(
        ({ service }) => service.readiness(),
        (error) => readinessOf({ open: () => Promise.reject(error), now }),
      ),
  });
  return {
    fetch: async (request, info) => {
      try {
        return await app(request, info);
      } catch {
        return unavailable();
      }
    },
    poll: async () => {
      const { service, ledger, metrics } = await opened();
      await keepCronRun(ledger.driver, now());
      await service.refusals.look();
      await pollFor(pollMs, service);
      metrics.conditions(await lookAtStored(ledger, { nowMs: now() }));
    },
    close: async () => {
      if (opening === null) return;
      const { service, ledger } = await opening;
      await service[Symbol.asyncDispose]();
      await ledger.close();
    },
  };
}

async function open(
  { env, now }: DeployAppOptions,
  log: Log,
): Promise<Opened> {
  const config = readConfig(env);
  const secrets = requireWebhookSecrets(config);
  if (!/^(libsql|https?):/.test(config.databaseUrl)) {
    throw new UsageError(
      `Wrong ${VARIABLES.databaseUrl}: there is no disk here; name a database ` +
        "on a server, libsql: or https:",
    );
  }
  const driver = retrying(
    remoteDriver({
      url: config.databaseUrl,
      ...(config.databaseToken === null
        ? {}
        : { authToken: config.databaseToken }),
    }),
  );
  const ledger = await ledgerOn(driver, {
    ...(config.environment === null
      ? { defaultEnvironment: "sandbox" }
      : { environment: config.environment }),
    now,
  });
  const metrics = serviceMetrics();
  // From now on one is waited for.
  await keepCronRun(driver, now(), "first");
  const service = composeService({
    config,
    secrets,
    ledger,
    log,
    metrics,
    now,
    longLived: false,
  });
  return { service, ledger, metrics };
}

/** Runs the sweeps for a while; each continues where the last poll stopped. */
async function pollFor(ms: number, { poller }: Service): Promise<void> {
  if (poller === null) return;
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), ms);
  try {
    await poller.run(time.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** After a 503 the service sends again; `/readyz` says why. */
function unavailable(): Response {
  return new Response(null, { status: 503, headers: { "retry-after": "60" } });
}
