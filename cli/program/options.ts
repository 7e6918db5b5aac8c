import { type Command, Option } from "commander";
import type { OnrampClient } from "../../client/mod.ts";
import type { ServicePort } from "../../resources/operations/operation.ts";
import type { Config, ConfigFlags } from "../../core/settings/config.ts";
import { CONTRADICTED_AFTER_MS } from "../../sync/recording/recorder.ts";
import {
  flagHelp,
  flagName,
  type Setting,
  type SettingName,
  SETTINGS,
} from "../../core/settings/settings.ts";
import { wholeNumber } from "../../core/settings/values.ts";
import { UsageError } from "../../core/settings/errors.ts";

/** What operations ask the service with. */
export function servicePort(
  { apiKey }: Pick<Config, "apiKey">,
  make: (
    options?: { readonly allowUnlistedAssets: boolean },
  ) => OnrampClient,
  about: Pick<ServicePort, "address" | "requestsPerSecond"> = {},
): ServicePort | null {
  if (apiKey === null) return null;
  // One client paces all its sessions.
  let usual: OnrampClient | undefined;
  return {
    lists: () => make(),
    sessions: (allowUnlistedAssets = false) =>
      (allowUnlistedAssets ? make({ allowUnlistedAssets }) : usual ??= make())
        .sessions,
    newClickId: () => crypto.randomUUID(),
    ...about,
  };
}

/** Heading of the flags that stand for a variable, below a command's own. */
export const SETTINGS_HEADING = "Settings, each also a variable:";

/** Adds the flags of settings, as the table of settings describes them. */
export function settingOptions(
  command: Command,
  ...names: readonly SettingName[]
): Command {
  return names.reduce((command, name) => settingOption(command, name), command);
}

/**
 * Adds the flag of a setting. The text of one that stands for a variable is
 * left to the reader of the settings.
 */
export function settingOption(
  command: Command,
  name: SettingName,
  but: Partial<Pick<Setting, "flag" | "means" | "otherwise" | "fallback">> = {},
): Command {
  const row: Setting = { ...SETTINGS[name], ...but };
  const { flag = "", variable, fallback, read } = row;
  const needs = but.flag === undefined ? row.needs : undefined;
  const option = new Option(flag);
  // Where another flag decides, the parser must not make it look as if given.
  const isPreset = fallback !== undefined && variable === undefined &&
    needs === undefined && !option.optional;
  const { fallback: _, ...unset } = row;
  option.description = flagHelp(isPreset ? unset : row);
  if (isPreset) option.default(fallback);
  if (variable !== undefined) option.helpGroup(SETTINGS_HEADING);
  if (Array.isArray(fallback)) {
    option.argParser((text: string, before: readonly string[] = []) => [
      ...before,
      text,
    ]);
  } else if (variable === undefined && read !== undefined && !option.variadic) {
    option.argParser((text: string) => read(firstWord(flag), text));
  }
  command.addOption(option);
  return needs === undefined ? command : command.hook("preAction", () => {
    const { [option.attributeName()]: given, [needs]: other } = command.opts();
    if (given === undefined || other !== undefined) return;
    throw new UsageError(
      `Missing ${flagName(needs as SettingName)}: ${
        firstWord(flag)
      } counts only with it`,
    );
  });
}

function firstWord(flag: string): string {
  return flag.split(" ", 1)[0] ?? flag;
}

/** Adds the flags of every command that opens the ledger. */
export function ledgerOptions(command: Command): Command {
  return settingOptions(command, "databaseUrl", "environment");
}

/** Adds the flags of every command that asks the service. */
export function serviceOptions(command: Command): Command {
  return settingOptions(command, "baseUrl");
}

/** Adds `--json`. */
export function jsonOption(
  command: Command,
  what: "one object" | "one object a line",
): Command {
  return command.option("--json", `JSON instead of text: ${what}`);
}

/** Adds `--limit` to a list. People see the newest rows. A script gets all of
 * them, because it would take a part for the whole. */
export function limitOption(command: Command, what: string): Command {
  return command.option(
    "--limit <n>",
    `at most this many ${what}, 0 for all (default: ${TABLE_LIMIT}; with ` +
      "--json: all)",
    (text) => wholeNumber(0, 1e9)("--limit", text),
  );
}

/** How many rows a list shows; 0 is all. */
export function limitOf(
  { limit, json }: { readonly limit?: number; readonly json?: boolean },
): number {
  return limit ?? (json === true ? 0 : TABLE_LIMIT);
}

const TABLE_LIMIT = 50;

/** Adds `--rate`: requests a second to the service, 4 unless given. */
export function rateOption(command: Command): Command {
  return settingOption(command, "rate", { fallback: 4 });
}

/** Adds the flag for how long the service may disagree with a claim. */
export function contradictedAfterOption(command: Command): Command {
  return settingOption(command, "contradictedAfter", {
    fallback: CONTRADICTED_AFTER_MS / 60_000,
  });
}

/** Flags shared by commands, as commander hands them over. */
export interface SharedFlags extends ConfigFlags {
  readonly json?: boolean;
}
