import { type ApiToken, readApiTokens } from "./api_tokens.ts";
import { UsageError } from "./errors.ts";
import { withoutPasswords } from "./redact.ts";
import { DEFAULT_DATABASE_URL, VARIABLES } from "./variables.ts";

/** Settings of a command: flags over environment variables over defaults. */
export interface Config {
  /** `production`, `sandbox`, or null when not set. */
  readonly environment: "production" | "sandbox" | null;
  /** API key of the partner. */
  readonly apiKey: string | null;
  /** Partner identifier, for the widget. */
  readonly partnerId: string | null;
  /** Path secrets of the webhook endpoint; several while rotating. */
  readonly webhookSecrets: readonly string[];
  /** Tokens that open the HTTP API and the console. */
  readonly apiTokens: readonly ApiToken[];
  /** Address under which the endpoint is reached from outside. */
  readonly publicUrl: string | null;
  /** Directory of the spool; null where none was named. */
  readonly spoolDir: string | null;
  /** Database of the ledger. */
  readonly databaseUrl: string;
  /** Token of a remote database. */
  readonly databaseToken: string | null;
  /** Addresses that replace those of the environment. */
  readonly addresses: {
    readonly baseUrl: string | null;
    readonly cardsBaseUrl: string | null;
    readonly widgetOrigin: string | null;
    readonly dashboardUrl: string | null;
  };
}

/** Flags that replace an environment variable. Secrets have none: a command
 * line can be read by every process of the machine. */
export interface ConfigFlags {
  readonly environment?: string | undefined;
  readonly databaseUrl?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly partnerId?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly spoolDir?: string | undefined;
}

/** A webhook secret shorter than this, in characters, gets a warning. */
export const SHORT_SECRET_LENGTH = 16;

/**
 * Reads the settings. An empty variable counts as not set.
 *
 * @throws {UsageError} For a value that cannot be right, naming the variable.
 */
export function readConfig(
  env: (name: string) => string | undefined,
  flags: ConfigFlags = {},
): Config {
  const variable = (name: string) => env(name)?.trim() || null;
  const setting = (flag: string | undefined, name: string) =>
    flag?.trim() || variable(name);
  const url = (flag: string | undefined, name: string) =>
    httpUrl(setting(flag, name), name);
  return {
    environment: environmentName(
      setting(flags.environment, VARIABLES.environment),
    ),
    apiKey: apiKey(variable(VARIABLES.apiKey)),
    partnerId: setting(flags.partnerId, VARIABLES.partnerId),
    webhookSecrets: secrets(variable(VARIABLES.webhookSecrets)),
    apiTokens: readApiTokens(variable(VARIABLES.apiTokens)),
    publicUrl: url(flags.publicUrl, VARIABLES.publicUrl),
    spoolDir: setting(flags.spoolDir, VARIABLES.spoolDir),
    databaseUrl: databaseUrl(
      setting(flags.databaseUrl, VARIABLES.databaseUrl) ??
        DEFAULT_DATABASE_URL,
    ),
    databaseToken: variable(VARIABLES.databaseToken),
    addresses: {
      baseUrl: url(flags.baseUrl, VARIABLES.baseUrl),
      cardsBaseUrl: url(undefined, VARIABLES.cardsBaseUrl),
      widgetOrigin: url(undefined, VARIABLES.widgetOrigin),
      dashboardUrl: url(undefined, VARIABLES.dashboardUrl),
    },
  };
}

/**
 * The API key, for commands that cannot work without one.
 *
 * @throws {UsageError} When it is not set.
 */
export function requireApiKey(config: Config): string {
  if (config.apiKey !== null) return config.apiKey;
  throw missing("the API key of the partner API", VARIABLES.apiKey);
}

/**
 * The webhook secrets, for commands that cannot work without one.
 *
 * @throws {UsageError} When none is set.
 */
export function requireWebhookSecrets(config: Config): readonly string[] {
  if (config.webhookSecrets.length > 0) return config.webhookSecrets;
  throw missing(
    "the secret in the webhook address",
    VARIABLES.webhookSecrets,
    "a fresh one: openssl rand -hex 24",
  );
}

function missing(what: string, name: string, hint?: string): UsageError {
  return new UsageError(
    `Missing setting: ${what} is not known; set ${name}` +
      (hint === undefined ? "" : ` (${hint})`),
  );
}

function environmentName(
  value: string | null,
): "production" | "sandbox" | null {
  if (value === null || value === "production" || value === "sandbox") {
    return value;
  }
  throw new UsageError(
    `Wrong environment: "${value}" is neither "production" nor "sandbox"; ` +
      `set ${VARIABLES.environment} or --environment to one of them`,
  );
}

function apiKey(value: string | null): string | null {
  if (value === null || /^[!-~]+$/.test(value)) return value;
  // The value itself stays out of the message: it is a secret.
  throw new UsageError(
    `Wrong ${VARIABLES.apiKey}: it has a character that no key has, such as a ` +
      "space or …; set the key that the service gave you",
  );
}

function secrets(value: string | null): readonly string[] {
  if (value === null) return [];
  const list = value.split(",").map((one) => one.trim()).filter(Boolean);
  for (const [index, secret] of list.entries()) {
    // The value itself stays out of the message: it is a secret.
    if (!/^[A-Za-z0-9._~-]+$/.test(secret)) {
      throw new UsageError(
        `Wrong ${VARIABLES.webhookSecrets}: secret ${index + 1} of ` +
          `${list.length} has a character that an address cannot carry as ` +
          "is; use letters, digits and . _ ~ -",
      );
    }
  }
  return list;
}

function httpUrl(value: string | null, name: string): string | null {
  if (value === null) return null;
  const url = URL.parse(value);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    // A query may hold a token.
    const shown = withoutPasswords(value).replace(/[?#].*$/s, "");
    throw new UsageError(
      `Wrong ${name}: "${shown}" is not an http or https address`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    // The value itself stays out of the message.
    throw new UsageError(
      `Wrong ${name}: the address holds a user or a password; take them out`,
    );
  }
  return value.replace(/\/+$/, "");
}

function databaseUrl(value: string): string {
  if (/^file:\/*$/.test(value)) {
    throw new UsageError(
      `Wrong ${VARIABLES.databaseUrl}: "${value}" names no file; write for ` +
        `example ${DEFAULT_DATABASE_URL}`,
    );
  }
  if (value === ":memory:" || /^(file|libsql|https?|wss?):/.test(value)) {
    return value;
  }
  const schemes = "none of file:, libsql:, https:, http:, wss:, ws:";
  // The rest of an address may hold a password.
  const [scheme] = /^[^/]+:\/\//.exec(value) ?? [];
  throw new UsageError(
    scheme === undefined
      ? `Wrong ${VARIABLES.databaseUrl}: "${
        withoutPasswords(value)
      }" starts with ${schemes}; ` +
        `for a file write file:${withoutPasswords(value)}`
      : `Wrong ${VARIABLES.databaseUrl}: ${scheme} is ${schemes}; a ledger ` +
        "is a file, or a database on sqld or Turso",
  );
}
