import { OnrampClient } from "../../client/client.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerOn } from "../../ledger/ledger_on.ts";
import { createPoller } from "../../ledger/poller/poller.ts";
import { RemoteDriver } from "../../ledger/store/remote_driver.ts";
import { RetryingDriver } from "../../ledger/store/retrying_driver.ts";
import type { ConnectionInfo } from "../../webhooks/endpoint_options.ts";
import {
  type WebhookEndpoint,
  webhookEndpoint,
} from "../../webhooks/endpoint.ts";
import {
  type Config,
  readConfig,
  requireWebhookSecrets,
  VARIABLES,
} from "../config.ts";
import { UsageError } from "../exit_codes.ts";
import { httpApp } from "../http_app.ts";
import { jsonLog, type Log, messageOf } from "../logger.ts";
import { type ServiceMetrics, serviceMetrics } from "../metrics.ts";
import { readinessOf } from "../readiness.ts";
import { redact } from "../redact.ts";
import { serviceEnvironment } from "../service.ts";

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

/** What is made at the first request, and kept. */
interface Parts {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly endpoint: WebhookEndpoint;
  readonly measured: ServiceMetrics;
}

/**
 * The endpoint on a remote ledger. Nothing is opened until it is needed, so
 * that a cold start answers at once; what cannot be opened is tried again at
 * the next request, and the service is told 503 so that it sends again.
 */
export function deployApp(options: DeployAppOptions): DeployApp {
  const { env, now, pollMs = 45_000 } = options;
  const log = jsonLog((text) => options.write(redact(text, env)), now);
  let opening: Promise<Parts> | null = null;
  const parts = () => {
    opening ??= open(options, log, () => void catchUp()).catch((error) => {
      opening = null;
      log("error", "not ready", { message: messageOf(error) });
      throw error;
    });
    return opening;
  };

  // One fold at a time; what arrives meanwhile is folded by one more.
  let folding: Promise<void> | null = null;
  let again = false;
  const catchUp = (): Promise<void> => {
    again = true;
    folding ??= (async () => {
      try {
        while (again) {
          again = false;
          const { ledger } = await parts();
          await ledger.project();
          await ledger.chain();
        }
      } catch (error) {
        log("error", "projection failed", { message: messageOf(error) });
      } finally {
        folding = null;
      }
    })();
    return folding;
  };

  const app = httpApp({
    endpoint: async (request, info) => (await parts()).endpoint(request, info),
    readiness: () => readinessOf(async () => (await parts()).ledger, 0),
  });
  return {
    fetch: async (request, info) => {
      try {
        return await app(request, info);
      } catch {
        return unavailable();
      }
    },
    poll: async () => pollFor(pollMs, await parts(), { now, log }),
    close: async () => {
      if (opening === null) return;
      const { endpoint, ledger } = await opening;
      await endpoint.drain();
      await folding;
      await ledger.close();
    },
  };
}

async function open(
  { env, now }: DeployAppOptions,
  log: Log,
  appended: () => void,
): Promise<Parts> {
  const config = readConfig(env);
  const secrets = requireWebhookSecrets(config);
  if (!/^(libsql|https?):/.test(config.databaseUrl)) {
    throw new UsageError(
      `Wrong ${VARIABLES.databaseUrl}: there is no disk here; name a database ` +
        "on a server, libsql: or https:",
    );
  }
  const driver = new RetryingDriver(
    new RemoteDriver({
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
  const measured = serviceMetrics();
  const append = measured.timed(ledger.appendDelivery);
  const endpoint = webhookEndpoint({
    append: async (delivery) => {
      await append(delivery);
      appended();
    },
    unanswered: ledger.recordUnanswered,
    secrets,
    now,
    log: ({ level, code, at: _, ...fields }) => {
      if (level !== "debug") log(level, code, fields);
    },
  });
  return { config, ledger, endpoint, measured };
}

/** Runs the sweeps for a while; each goes on where the last time broke off. */
async function pollFor(
  ms: number,
  { config, ledger, measured }: Parts,
  { now, log }: { readonly now: () => number; readonly log: Log },
): Promise<void> {
  if (config.apiKey === null) {
    log("warn", "no API key", { advice: `Set ${VARIABLES.apiKey}` });
    return;
  }
  const client = new OnrampClient({
    apiKey: config.apiKey,
    environment: serviceEnvironment(config, ledger.environment),
  });
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), ms);
  try {
    await createPoller({
      ledger,
      client,
      now,
      onWatch: measured.delivery,
      onAlert: (health) => {
        log(
          health.deliverySuspected ? "error" : "info",
          "webhook delivery",
          { message: health.detail },
        );
      },
      onError: (error) =>
        log("error", "poll failed", { message: messageOf(error) }),
    }).run(time.signal);
  } finally {
    clearTimeout(timer);
  }
}

/** The service sends again what is answered 503; `/readyz` says why. */
function unavailable(): Response {
  return new Response(null, { status: 503, headers: { "retry-after": "60" } });
}
