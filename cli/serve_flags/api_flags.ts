import packageFile from "../../deno.json" with { type: "json" };
import type { Ledger } from "../../ledger/mod.ts";
import type { Poller } from "../../sync/mod.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { OperationContext } from "../../resources/operations/operation.ts";
import { defined } from "../../core/guards.ts";
import { isLoopback, listening, urlOf } from "../../server/http/listening.ts";
import { hostGuard } from "../../server/http/host_guard.ts";
import { apiMeter } from "../../server/monitoring/api_meter.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { ServiceMetrics } from "../../server/monitoring/metrics.ts";
import {
  type FlagsOf,
  SETTINGS,
  VARIABLES,
} from "../../core/settings/settings.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { serviceClient } from "../../server/compose/service_client.ts";
import { servicePort } from "../program/service_port.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { apiApp } from "../../server/api/api_app.ts";
import { callers } from "../../server/api/callers.ts";
import { Operations } from "../../server/api/operations.ts";
import { TransitionFeed } from "../../server/api/transition_feed.ts";

/** Flags of `serve` for the HTTP API. */
export type ApiFlags = FlagsOf<"apiPort" | "apiHost" | "apiAllowHost">;

/** What the API is served from. */
export interface ApiSource {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly log: Log;
  readonly now: () => number;
  /** The poller of this process; null when nothing polls in it. */
  readonly poller: Poller | null;
  /** Counts the answers. */
  readonly metrics: Pick<ServiceMetrics, "meter">;
  /** Requests a second of a recovery. @default {the client's own} */
  readonly requestsPerSecond?: number;
  /** Looks how everything is. @default {by what the ledger has} */
  readonly look?: LookAtHealth;
  /** Asks the chain nodes; null without any. @default {null} */
  readonly lookAtChain?: OperationContext["lookAtChain"];
}

/** An API that listens. */
export interface OpenApi {
  /** Ends streams and waiting answers, and closes it. */
  shutdown(): Promise<void>;
}

/**
 * Reads the flags for the HTTP API.
 *
 * @throws {UsageError} When a flag is wrong, or others could reach it and there
 * is no token.
 */
export function configuredApi(
  { apiPort: port, apiHost, apiAllowHost: names }: ApiFlags,
  { apiTokens: tokens }: Pick<Config, "apiTokens">,
): ((source: ApiSource) => Promise<OpenApi>) | undefined {
  if (port === undefined) return undefined;
  const host = apiHost ?? SETTINGS.apiHost.fallback;
  if (tokens.length === 0 && !isLoopback(host)) {
    throw new UsageError(
      `Wrong --api-host: "${host}" is reached from other machines, and the ` +
        `API shows personal data; set ${VARIABLES.apiTokens}=read:TOKEN, or leave ` +
        "--api-host out",
    );
  }
  return async (source) => {
    const { ledger, config, log, now, requestsPerSecond: rate } = source;
    const stop = new AbortController();
    const feed = new TransitionFeed(ledger);
    const ask = () =>
      serviceClient(
        config,
        ledger.environment,
        rate === undefined ? {} : { requestsPerSecond: rate },
      );
    const operations = new Operations({
      ledger,
      log,
      now,
      poller: source.poller,
      service: servicePort(config, ask),
      signal: stop.signal,
      ...defined({ lookAtChain: source.lookAtChain }),
    });
    const app = apiApp({
      parts: {
        ...{ ledger, now, feed, operations, signal: stop.signal },
        ...defined({ look: source.look }),
      },
      callerOf: callers(tokens),
      isKnownHost: hostGuard([host, ...names ?? []]),
      log,
      version: packageFile.version,
      onAnswer: apiMeter(source.metrics.meter),
    });
    const server = await listening(
      "the HTTP API",
      port,
      () => openHttpServer({ port, hostname: host, handler: app }),
      "--api-port",
    );
    log("info", "api_listening", {
      url: urlOf(host, server.port),
      tokens: tokens.length,
    });
    return {
      shutdown: async () => {
        stop.abort();
        await server.shutdown();
        await feed.stop();
      },
    };
  };
}
