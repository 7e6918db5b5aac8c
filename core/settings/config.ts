import { UsageError } from "./errors.ts";
import {
  flagName,
  type FlagsOf,
  type Setting,
  SETTINGS,
  type SettingValue,
  VARIABLE_NAMES,
  type VariableName,
  VARIABLES,
} from "./settings.ts";

/** Every setting that has a variable, as it holds for this process. */
export type Config = {
  readonly [Name in VariableName]: SettingValue<Name>;
};

/** Settings that were given, which win over variables: a list as one text too. */
export type GivenSettings = {
  readonly [Name in VariableName]?: string | readonly string[] | undefined;
};

/** The flags of a command that stand for a variable. */
export type ConfigFlags = FlagsOf<
  | "environment"
  | "databaseUrl"
  | "baseUrl"
  | "publicUrl"
  | "spoolDir"
  | "forwardTo"
  | "notify"
>;

/** Reads the settings. An empty one counts as not set. */
export function readConfig(
  env: (name: string) => string | undefined,
  given: GivenSettings = {},
  called: (name: VariableName) => string = (name) =>
    flagName(name) ?? VARIABLES[name],
): Config {
  const values = VARIABLE_NAMES.map((name) => {
    const row: Setting = SETTINGS[name];
    const asked = texts(given[name]);
    const [from, found] = asked.length > 0
      ? [called(name), asked]
      : [VARIABLES[name], texts(env(VARIABLES[name]))];
    for (const text of found) requireUnquoted(from, text);
    const read = found.map((text) => row.read?.(from, text));
    const fallback = row.fallback ?? null;
    const value = Array.isArray(fallback) ? read.flat() : read[0] ?? fallback;
    return [name, value];
  });
  return Object.fromEntries(values) as Config;
}

/** The API key, for commands that cannot work without one. */
export function requireApiKey(config: Pick<Config, "apiKey">): string {
  if (config.apiKey !== null) return config.apiKey;
  throw missing("the API key of the partner API", VARIABLES.apiKey);
}

/** The webhook secrets, for commands that cannot work without one. */
export function requireWebhookSecrets(
  { webhookSecrets }: Pick<Config, "webhookSecrets">,
): readonly string[] {
  if (webhookSecrets.length > 0) return webhookSecrets;
  throw missing(
    "the secret in the webhook address",
    `${VARIABLES.webhookSecrets} (a fresh one: openssl rand -hex 24)`,
  );
}

function missing(what: string, name: string): UsageError {
  return new UsageError(`Missing setting: ${what} is not known; set ${name}`);
}

/** Files of variables for containers have no quotes: they become part of it. */
function requireUnquoted(from: string, text: string): void {
  if (!/^"[^"]*"$|^'[^']*'$/.test(text)) return;
  throw new UsageError(
    `Wrong ${from}: its value stands in quotes, which are taken as part of ` +
      "it; write it without them",
  );
}

function texts(given: string | readonly string[] | undefined): string[] {
  const all = typeof given === "string" ? [given] : given ?? [];
  return all.map((text) => text.trim()).filter((text) => text !== "");
}

/**
 * The environment with what was given in place of its variables: what the values
 * of secrets are found by.
 */
export function givenEnv(
  given: GivenSettings,
  env: (name: string) => string | undefined,
): (variable: string) => string | undefined {
  return (variable) => {
    const name = VARIABLE_NAMES.find((name) => VARIABLES[name] === variable);
    const value = name === undefined ? undefined : given[name];
    return value === undefined ? env(variable) : [value].flat().join(",");
  };
}
