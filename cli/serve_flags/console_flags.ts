import { defined, messageOf } from "../../core/guards.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { OperationContext } from "../../resources/operations/operation.ts";
import { knownTokens } from "../../server/api/callers.ts";
import { Operations } from "../../server/api/operations.ts";
import type {
  Access,
  KnownTokens,
} from "../../server/console/access/access.ts";
import { CatchUp } from "../../server/console/catch_up.ts";
import { readExplorers } from "../../server/console/context/explorers.ts";
import {
  type OpenConsole,
  openConsole,
} from "../../server/console/open_console.ts";
import { lookAround } from "../../server/health/look_around.ts";
import { isLoopback } from "../../server/http/listening.ts";
import type { Log } from "../../server/monitoring/logger.ts";
import type { Config } from "../../core/settings/config.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  serviceClient,
  serviceEnvironment,
} from "../../server/compose/service_client.ts";
import { type FlagsOf, SETTINGS } from "../../core/settings/settings.ts";
import { servicePort } from "../program/service_port.ts";

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
export interface Shown {
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
export interface AccessFlags {
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
