import { resolve } from "node:path";
import packageFile from "../../deno.json" with { type: "json" };
import type { Ledger } from "../../ledger/mod.ts";
import type { Poller } from "../../sync/mod.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { OperationContext } from "../../resources/operations/operation.ts";
import { defined, messageOf } from "../../core/guards.ts";
import { isLoopback, listening, urlOf } from "../../server/http/listening.ts";
import { hostGuard } from "../../server/http/http_app.ts";
import {
  apiMeter,
  type ServiceMetrics,
} from "../../server/monitoring/metrics.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import {
  type FlagsOf,
  SETTINGS,
  VARIABLES,
} from "../../core/settings/settings.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { servicePort } from "../program/options.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { apiApp } from "../../server/api/api_app.ts";
import { callers, knownTokens } from "../../server/api/problem.ts";
import { Operations } from "../../server/api/operations.ts";
import { TransitionFeed } from "../../server/api/follow_feed.ts";
import { databaseFile, isTargetOff } from "../../ledger/for_server.ts";
import type { BackupPlan } from "../../server/ledger_file/ledger_lock.ts";
import { RegularBackups } from "../../server/ledger_file/regular_backups.ts";
import type {
  Access,
  KnownTokens,
} from "../../server/console/access/access.ts";
import { CatchUp } from "../../server/console/catch_up.ts";
import { readExplorers } from "../../server/console/context/page_context.ts";
import {
  type OpenConsole,
  openConsole,
} from "../../server/console/console_app.ts";
import { lookAround } from "../../server/health/look_around.ts";
import type { AlarmTarget } from "../../server/alarms/alarm_message.ts";
import {
  Forwarder,
  forwardMeters,
  ForwardReport,
} from "../../server/forwarding/forwarder.ts";
import { readForwarding } from "../../server/forwarding/read_targets.ts";
import { webhookSigner } from "../../server/forwarding/transition_message.ts";
import { targetName } from "../../server/forwarding/post_webhook.ts";

/** Flags of `serve` for the HTTP API. */
export type ApiFlags = FlagsOf<"apiPort" | "apiHost" | "apiAllowHost">;

/** What the API is served from. */
interface ApiSource {
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
interface OpenApi {
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

/** Flags for regular backups, as commander hands them over. */
export type BackupFlags = FlagsOf<"backupTo" | "every" | "keep">;

const { every: EVERY, keep: KEEP } = SETTINGS;

/** Where the flags have backups made, and how often. */
export function backupPlan(
  { backupTo, every = EVERY.fallback }: BackupFlags,
): BackupPlan | undefined {
  return backupTo === undefined
    ? undefined
    : { directory: resolve(backupTo), everyMs: every };
}

/** What is backed up, and where that is logged. */
interface BackedUp {
  /** Opens the ledger once more. */
  readonly open: () => Promise<Ledger>;
  readonly log: Log;
  readonly metrics: ServiceMetrics;
  readonly now: () => number;
}

/**
 * The regular backups that the flags ask for; undefined when they ask for none.
 *
 * @throws {UsageError} When they cannot be made.
 */
export function regularBackups(
  { backupTo, every, keep }: BackupFlags,
  { databaseUrl }: Pick<Config, "databaseUrl">,
): ((ledger: BackedUp) => RegularBackups) | undefined {
  if (backupTo === undefined) return undefined;
  const database = databaseFile(databaseUrl);
  if (database === null) {
    throw new UsageError(
      "Wrong --backup-to: the ledger is not in a file of this machine; use " +
        "the backup of its server, or `ledger export`",
    );
  }
  return (ledger) =>
    new RegularBackups({
      ...ledger,
      database,
      directory: backupTo.replace(/(?<=.)\/+$/, ""),
      everyMs: every ?? EVERY.fallback,
      keep: keep ?? KEEP.fallback,
    });
}

/** What a console is opened with. */
export interface ConsoleSettings {
  readonly port: number;
  readonly host: string;
  readonly hostFlag?: string;
  readonly allowHost?: readonly string[];
  readonly explorers?: string;
  readonly operate?: boolean;
}

/** The ledger that a console shows, and where it logs failures. */
interface Shown {
  readonly ledger: Ledger;
  readonly config: Config;
  readonly log: Log;
  readonly now: () => number;
  /** Looks how everything is. @default {as another process than `serve`} */
  readonly look?: LookAtHealth;
  /** Asks the chain nodes; null without any. @default {null} */
  readonly lookAtChain?: OperationContext["lookAtChain"];
}

/**
 * Opens a console with settings from flags.
 *
 * @throws {UsageError} When a setting is wrong.
 */
export async function openConfiguredConsole(
  { ledger, config, log, now, look, lookAtChain = null }: Shown,
  settings: ConsoleSettings,
  folds: boolean,
): Promise<OpenConsole> {
  const folding = folds ? null : new CatchUp(
    ledger,
    (error) => log("error", "console_failed", { message: messageOf(error) }),
  );
  const { dashboardUrl } = serviceEnvironment(config, ledger.environment);
  const stop = new AbortController();
  const operations = new Operations({
    ledger,
    log,
    now,
    poller: null,
    service: servicePort(
      config,
      () => serviceClient(config, ledger.environment),
    ),
    signal: stop.signal,
    lookAtChain,
  });
  const open = await openConsole({
    ledger,
    now,
    look: look ?? (() => lookAround({ ledger, config, nowMs: now() })),
    access: accessOf(settings, knownTokens(config.apiTokens)),
    hostNames: [settings.host, ...settings.allowHost ?? []],
    dashboardUrl,
    explorers: await readExplorers(settings.explorers),
    catchUp: () => folding?.caughtUp() ?? Promise.resolve(),
    log,
    operations,
  }, settings);
  return {
    url: open.url,
    shutdown: async () => {
      stop.abort();
      await open.shutdown();
      await folding?.stop();
    },
  };
}

/** Flags of `serve` for a console beside the endpoint. */
export type ServeConsoleFlags = FlagsOf<
  "console" | "consoleHost" | "consoleAllowHost"
>;

/**
 * Reads the flags for a console beside the endpoint.
 *
 * @throws {UsageError} When a flag is wrong.
 */
export function configuredConsole(
  { console: port, consoleHost, consoleAllowHost }: ServeConsoleFlags,
  { apiTokens }: Pick<Config, "apiTokens">,
): ((shown: Shown) => Promise<OpenConsole>) | undefined {
  if (port === undefined) return undefined;
  const settings: ConsoleSettings = defined({
    port: port === true ? SETTINGS.console.fallback : port,
    host: consoleHost ?? SETTINGS.consoleHost.fallback,
    hostFlag: "--console-host",
    allowHost: consoleAllowHost,
  });
  accessOf(settings, knownTokens(apiTokens));
  return async (shown) => {
    const open = await openConfiguredConsole(shown, settings, true);
    shown.log("info", "console_listening", { url: open.url });
    return open;
  };
}

/** Flags that say who may open the console. */
interface AccessFlags {
  /** Address to listen on. */
  readonly host: string;
  /** The flag that says so. @default {"--host"} */
  readonly hostFlag?: string;
  /** Whether everybody may acknowledge and note. */
  readonly operate?: boolean;
}

/**
 * Decides who may open the console: with tokens anyone who holds one, and
 * without them anyone who works on this machine.
 *
 * @throws {UsageError} When it would be open to others without a token.
 */
export function accessOf(
  { host, operate, hostFlag = "--host" }: AccessFlags,
  tokens: KnownTokens | null,
): Access {
  if (tokens !== null) {
    if (operate === true) {
      throw new UsageError(
        "Wrong --operate: people sign in, so their tokens decide; give out " +
          "operate:TOKEN in RAMPKIT_API_TOKENS",
      );
    }
    return { kind: "tokens", tokens };
  }
  if (isLoopback(host)) return { kind: "open", operates: operate === true };
  throw new UsageError(
    `Wrong ${hostFlag}: "${host}" is reached from other machines, and without a ` +
      "token the console opens on this machine alone; set " +
      `RAMPKIT_API_TOKENS=read:TOKEN, or leave ${hostFlag} out`,
  );
}

/** What forwarding works with. */
interface Forwarded {
  readonly ledger: Ledger;
  readonly log: Log;
  readonly metrics: Pick<ServiceMetrics, "meter">;
  readonly now: () => number;
}

/** Forwarding as the settings ask for it. */
interface ConfiguredForwarding {
  /** The receivers of alarms. */
  alarms(ledger: Ledger): readonly AlarmTarget[];
  /** Forwards until the signal is aborted. */
  run(parts: Forwarded, signal: AbortSignal): Promise<void>;
}

/**
 * What forwards as the settings say; undefined when they name no target.
 *
 * @throws {UsageError} When a target, a pattern or a secret is wrong or missing.
 */
export function forwardingOf(
  config: Pick<Config, "forwardTo" | "forwardSecrets">,
): ConfiguredForwarding | undefined {
  const forwarding = readForwarding(config);
  if (forwarding === undefined) return undefined;
  const { targets, secrets } = forwarding;
  const sign = webhookSigner(secrets);
  return {
    alarms: ({ driver }) =>
      targets.map(({ name, url }) => ({
        name,
        shown: targetName(url),
        url,
        write: sign,
        isOff: () => isTargetOff(driver, name),
      })),
    run: async ({ ledger, log, metrics, now }, signal) => {
      const meters = forwardMeters(metrics.meter);
      await Promise.all(targets.map((target) => {
        const report = new ForwardReport({
          target: targetName(target.url),
          name: target.name,
          meters,
          log,
          now,
        });
        return new Forwarder({ ledger, target, sign, report, now }).run(signal);
      }));
    },
  };
}
