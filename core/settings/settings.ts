import { UsageError } from "./errors.ts";
import { WITNESS_RULES } from "../chain/verdict.ts";
import { lengthOfTime, oneOf, readApiTokens, wholeNumber } from "./values.ts";

/** The database used when none is named. */
const DEFAULT_DATABASE_URL = "file:rampkit.db";

/**
 * Takes user and password out of every address in a text: of
 * `libsql://me:word@host` it leaves `libsql://[secret]@host`. What follows
 * `file:` is a path, in which an @ is nothing special.
 */
export function withoutPasswords(text: string): string {
  return text.replace(
    /\b([a-z][a-z0-9+.-]*):(\/\/)?[^\s"'<>]*@/gi,
    (found, scheme: string, slashes: string | undefined) =>
      scheme.toLowerCase() === "file"
        ? found
        : slashes === undefined
        ? "[secret]@"
        : `${scheme}://[secret]@`,
  );
}

/** Reads an http address. */
export function httpUrl(name: string, text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    // A query may hold a token.
    const shown = withoutPasswords(text).replace(/[?#].*$/s, "");
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
  return text.replace(/\/+$/, "");
}

/** Reads the address of a database. */
function databaseUrl(name: string, text: string): string {
  if (/^file:\/*$/.test(text)) {
    throw new UsageError(
      `Wrong ${name}: "${text}" names no file; write for example ` +
        DEFAULT_DATABASE_URL,
    );
  }
  if (text === ":memory:" || /^(file|libsql|https?|wss?):/.test(text)) {
    return text;
  }
  const schemes = "none of file:, libsql:, https:, http:, wss:, ws:";
  // The rest of an address may hold a password.
  const [scheme] = /^[^/]+:\/\//.exec(text) ?? [];
  const shown = withoutPasswords(text);
  throw new UsageError(
    scheme === undefined
      ? `Wrong ${name}: "${shown}" starts with ${schemes}; for a file write ` +
        `file:${shown}`
      : `Wrong ${name}: ${scheme} is ${schemes}; a ledger is a file, or a ` +
        "database on sqld or Turso",
  );
}

/** A webhook secret shorter than this, in characters, gets a warning. */
export const SHORT_SECRET_LENGTH = 16;

/** What documents and templates write where a key of one's own belongs. */
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\{.*\}|\$\w+|\$\{.*\}|x{3,}|\*{3,}|\.{3,}|(?:.*[-_])?your[-_].*|.*(?:change|replace)[-_]?(?:me|this)|(?:.*[-_])?placeholder|todo|tbd|none|null|undefined)$/i;

/** Reads the API key. */
function apiKey(name: string, text: string): string {
  if (PLACEHOLDER.test(text)) {
    throw new UsageError(
      `Wrong ${name}: it is what a template writes in place of a key; set the ` +
        "key that the service gave you",
    );
  }
  if (/^[!-~]+$/.test(text)) return text;
  throw new UsageError(
    `Wrong ${name}: it has a character that no key has, such as a space or …; ` +
      "set the key that the service gave you",
  );
}

/** Reads webhook secrets, separated by commas. */
function webhookSecrets(name: string, text: string): readonly string[] {
  const list = text.split(",").map((one) => one.trim()).filter(Boolean);
  const wrong = list.findIndex((one) => !/^[A-Za-z0-9._~-]+$/.test(one));
  if (wrong === -1) return list;
  throw new UsageError(
    `Wrong ${name}: secret ${
      wrong + 1
    } of ${list.length} has a character that ` +
      "an address cannot carry as is; use letters, digits and . _ ~ -",
  );
}

/** A setting: one row says all of it. */
export interface Setting {
  /** Its variable. @default {it is a flag alone} */
  readonly variable?: `RAMPKIT_${string}`;
  /**
   * Its flag with its operand, as help prints them. A secret has none, because
   * a command line can be read by every process of the machine, but where its
   * help says so.
   *
   * @default {it is a variable alone}
   */
  readonly flag?: `--${string}`;
  /** What it says, in one sentence. */
  readonly means: string;
  /** What the help of the flag says beyond that. @default {nothing} */
  readonly more?: string;
  /** What holds where it is not set, as documents and help print it. */
  readonly otherwise?: string;
  /** Its value where it is not set. @default {null} */
  readonly fallback?: unknown;
  /** The setting without which its flag would count for nothing. @default {none} */
  readonly needs?: string;
  /** Whether no message may show its value. @default {false} */
  readonly isSecret?: true;
  /**
   * Reads it. Values of a list are read one by one where several are given.
   *
   * @default {it is a flag without an operand}
   */
  readonly read?: (name: string, text: string) => unknown;
}

/** Where to send to, as it was given. */
export interface GivenTarget {
  /** The flag or variable. */
  readonly from: string;
  /** An address, an address with patterns after it, or a receiver of alarms. */
  readonly text: string;
}

const text = (_name: string, text: string): string => text;
const port = wholeNumber(0, 65_535);

/**
 * Every setting that has a variable, in the order in which README lists them:
 * flags win over variables, and options of a program over both.
 */
const WITH_VARIABLE = {
  environment: {
    variable: "RAMPKIT_ENVIRONMENT",
    flag: "--environment <name>",
    means: "`production` or `sandbox`; a ledger is stamped with it",
    otherwise: "the ledger's stamp; a new one `sandbox`",
    read: oneOf(["production", "sandbox"]),
  },
  apiKey: {
    variable: "RAMPKIT_API_KEY",
    means: "key of the partner API; without it nothing is confirmed",
    isSecret: true,
    read: apiKey,
  },
  webhookSecrets: {
    variable: "RAMPKIT_WEBHOOK_SECRET",
    means: "secrets in the webhook address, separated by commas; each is valid",
    fallback: [],
    isSecret: true,
    read: webhookSecrets,
  },
  partnerId: {
    variable: "RAMPKIT_PARTNER_ID",
    means: "partner id, for the widget",
    read: text,
  },
  publicUrl: {
    variable: "RAMPKIT_PUBLIC_URL",
    flag: "--public-url <url>",
    means: "public address of the endpoint, for `doctor`",
    read: httpUrl,
  },
  databaseUrl: {
    variable: "RAMPKIT_DATABASE_URL",
    flag: "--database-url <url>",
    means: "the ledger: `file:…`, or `libsql:`/`https:` for sqld or Turso",
    otherwise: `\`${DEFAULT_DATABASE_URL}\``,
    fallback: DEFAULT_DATABASE_URL,
    read: databaseUrl,
  },
  databaseToken: {
    variable: "RAMPKIT_DATABASE_TOKEN",
    means: "token of a remote database",
    isSecret: true,
    read: text,
  },
  spoolDir: {
    variable: "RAMPKIT_SPOOL_DIR",
    flag: "--spool-dir <dir>",
    means: "folder that keeps answered deliveries until the ledger has them",
    more: "without one a delivery is stored in the ledger before its response",
    otherwise: "beside the file; none for a server",
    read: text,
  },
  forwardTo: {
    variable: "RAMPKIT_FORWARD_TO",
    flag: "--forward-to <target>",
    means: "addresses that transitions are sent to, separated by commas",
    more:
      "each may be followed by patterns: 'https://shop.example/hooks order.confirmed.*'; may be given several times",
    otherwise: "nowhere",
    fallback: [],
    // A pattern holds neither comma nor line.
    read: targets(/[,\n]\s*(?=https?:)/i),
  },
  forwardSecrets: {
    variable: "RAMPKIT_FORWARD_SECRET",
    means: "what signs them: `whsec_…`, separated by commas",
    isSecret: true,
    read: text,
  },
  notify: {
    variable: "RAMPKIT_NOTIFY",
    flag: "--notify <where>",
    means: "where alarms are sent: `slack:URL`, `pagerduty:KEY`, by commas",
    more: "may be given several times; it is a secret, and every process of " +
      "the machine can read a command line: on a machine of several people " +
      "set the variable",
    otherwise: "only to the targets of `--forward-to`",
    fallback: [],
    isSecret: true,
    read: targets(/[,\n]\s*(?=[a-z]+:(?!\/\/))/i),
  },
  apiTokens: {
    variable: "RAMPKIT_API_TOKENS",
    means: "who may use the HTTP API and the console: `read:TOKEN`, …",
    otherwise: "read-only, from this machine",
    fallback: [],
    isSecret: true,
    read: readApiTokens,
  },
  chainsFile: {
    variable: "RAMPKIT_CHAINS",
    means: "file that names your own chain nodes, as docs/integrate.md says",
    otherwise: "none: no chain is looked at",
    read: text,
  },
  requireWitness: {
    variable: "RAMPKIT_REQUIRE_WITNESS",
    means:
      "`all`: releases wait until your chain nodes have seen the transfer; `supported`: only of orders that they can look at; `off`",
    otherwise: "as the ledger has it; a new one `off`",
    read: oneOf(WITNESS_RULES),
  },
  baseUrl: {
    variable: "RAMPKIT_BASE_URL",
    flag: "--base-url <url>",
    means: "address of the partner API",
    otherwise: "the environment's",
    read: httpUrl,
  },
  cardsBaseUrl: {
    variable: "RAMPKIT_CARDS_BASE_URL",
    means: "address of card registration",
    otherwise: "the environment's",
    read: httpUrl,
  },
  widgetOrigin: {
    variable: "RAMPKIT_WIDGET_ORIGIN",
    means: "origin of the widget",
    otherwise: "the environment's",
    read: httpUrl,
  },
  dashboardUrl: {
    variable: "RAMPKIT_DASHBOARD_URL",
    means: "address of the dashboard",
    otherwise: "the environment's",
    read: httpUrl,
  },
} as const satisfies Readonly<
  Record<string, Setting & { readonly variable: string }>
>;

/** Settings of one run of `serve`, `console` and their like: flags alone. */
const FLAGS_ALONE = {
  port: {
    flag: "--port <port>",
    means: "port to listen on, 0 for a free one",
    fallback: 8787,
    read: port,
  },
  host: {
    flag: "--host <host>",
    means: "address to listen on",
    fallback: "127.0.0.1",
    read: text,
  },
  poll: { flag: "--no-poll", means: "do not poll the service" },
  rate: {
    flag: "--rate <n>",
    means: "requests a second to the service",
    read: wholeNumber(1, 1000),
  },
  contradictedAfter: {
    flag: "--contradicted-after <minutes>",
    means: "how long the service may disagree with a webhook's claim before " +
      "it no longer counts",
    read: wholeNumber(1, 1440),
  },
  allow: {
    flag: "--allow <address...>",
    means: "take webhooks only from these addresses or CIDR ranges",
    read: text,
  },
  clientAddressHeader: {
    flag: "--client-address-header <name>",
    means: "behind a proxy: the header that holds the client's address, for " +
      "example X-Forwarded-For; needs --trusted-proxies",
    read: text,
  },
  trustedProxies: {
    flag: "--trusted-proxies <address...>",
    means: "addresses or CIDR ranges of your proxies; from other addresses " +
      "the header is ignored",
    read: text,
  },
  goLive: {
    flag: "--go-live <time>",
    means: "deliver to targets and handlers only what ended after this time, " +
      "UTC ISO 8601; earlier orders are only recorded",
    otherwise: "the first start",
    read: text,
  },
  verbose: {
    flag: "--verbose",
    means: "print a line for each delivery to standard output: time, type, " +
      "id, amount, answer",
  },
  backupTo: {
    flag: "--backup-to <dir>",
    means: "copy the ledger into this folder regularly, and verify each copy",
    read: text,
  },
  every: {
    flag: "--every <time>",
    means: "how often, for example 30m, 6h or 1d",
    otherwise: "6h",
    needs: "backupTo",
    fallback: 6 * 3_600_000,
    read: lengthOfTime,
  },
  keep: {
    flag: "--keep <n>",
    means: "backups to keep",
    fallback: 28,
    needs: "backupTo",
    read: wholeNumber(1, 10_000),
  },
  console: {
    flag: "--console [port]",
    means: "show the ledger as web pages, on a port of their own",
    fallback: 8790,
    read: port,
  },
  consoleHost: {
    flag: "--console-host <host>",
    means: "address of those pages; on any other address than the default " +
      "people must sign in",
    fallback: "127.0.0.1",
    needs: "console",
    read: text,
  },
  consoleAllowHost: {
    flag: "--console-allow-host <name...>",
    means: "host names under which people open those pages",
    needs: "console",
    read: text,
  },
  explorers: {
    flag: "--explorers <file>",
    means: "JSON file of block explorers by network; they replace the " +
      "built-in ones",
    read: text,
  },
  operate: {
    flag: "--operate",
    means: "let everyone who opens it acknowledge and write notes; where " +
      "people sign in, their tokens decide",
  },
  apiPort: {
    flag: "--api-port <port>",
    means: "answer the HTTP API on this port, 0 for a free one",
    otherwise: "no API; docs/integrate.md describes it",
    read: port,
  },
  apiHost: {
    flag: "--api-host <host>",
    means: "address of the HTTP API; any other address than the default " +
      "needs tokens in RAMPKIT_API_TOKENS",
    fallback: "127.0.0.1",
    needs: "apiPort",
    read: text,
  },
  apiAllowHost: {
    flag: "--api-allow-host <name...>",
    means: "host names of the HTTP API, besides localhost and IP addresses",
    needs: "apiPort",
    read: text,
  },
} as const satisfies Readonly<
  Record<string, Setting & { readonly flag: string }>
>;

/**
 * Every setting. The key is the option that a program passes, and the name of
 * the flag as the parser of the command line gives it.
 */
export const SETTINGS = { ...WITH_VARIABLE, ...FLAGS_ALONE } as const;

/** Name of a setting. */
export type SettingName = keyof typeof SETTINGS;

/** Name of a setting that has a variable. */
export type VariableName = keyof typeof WITH_VARIABLE;

type RowOf<Name extends SettingName> = (typeof SETTINGS)[Name];
type ReadOf<Name extends SettingName> = RowOf<Name> extends
  { readonly read: (name: string, text: string) => infer Value } ? Value
  : boolean;

/** The value of a setting; null where it is not set and has no fallback. */
export type SettingValue<Name extends SettingName> =
  | ReadOf<Name>
  | (RowOf<Name> extends { readonly fallback: unknown } ? never : null);

type FlagName = {
  [Name in SettingName]: RowOf<Name> extends { readonly flag: string } ? Name
    : never;
}[SettingName];

/** Flags as the parser hands them over; those of a variable unread. */
export type FlagsOf<Name extends FlagName> = {
  readonly [One in Name]?: One extends "forwardTo" | "notify"
    ? readonly string[]
    : One extends VariableName ? string
    : RowOf<One>["flag"] extends `${string}...>` ? readonly string[]
    : RowOf<One>["flag"] extends `${string}]` ? true | ReadOf<One>
    : ReadOf<One>;
};

/** The variable of each setting, for help texts and error messages. */
export const VARIABLES = Object.fromEntries(
  Object.entries(WITH_VARIABLE).map(([name, { variable }]) => [name, variable]),
) as Readonly<Record<VariableName, string>>;

/** The names of the settings that have a variable. */
export const VARIABLE_NAMES = Object.keys(
  WITH_VARIABLE,
) as readonly VariableName[];

/** What a flag is called: `--database-url`; null where there is none. */
export function flagName(name: SettingName): string | null {
  const { flag }: Setting = SETTINGS[name];
  return flag?.split(" ")[0] ?? null;
}

/** What the help says of a flag. */
export function flagHelp(
  { variable, means, more, otherwise, fallback }: Setting,
): string {
  const standard = otherwise ?? fallback;
  const notes = [
    ...(variable === undefined ? [] : [variable]),
    ...(standard === undefined ? [] : [`default: ${standard}`]),
  ];
  return [
    more === undefined ? means : `${means}; ${more}`,
    ...(notes.length === 0 ? [] : [`(${notes.join("; ")})`]),
  ].join(" ").replaceAll("`", "");
}

/** The table of variables that README prints. */
export function settingsTable(): {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  const rows: readonly Setting[] = Object.values(WITH_VARIABLE);
  return {
    head: ["variable", "meaning", "default"],
    rows: rows.map(({ variable, means, otherwise = "none" }) => [
      `\`${variable}\``,
      means,
      otherwise,
    ]),
  };
}

function targets(between: RegExp) {
  return (from: string, text: string): readonly GivenTarget[] =>
    text.split(between)
      .map((one) => ({ from, text: one.replace(/,\s*$/, "").trim() }))
      .filter(({ text }) => text !== "");
}

/** The variables whose values no message may show. */
const SECRET_VARIABLES = VARIABLE_NAMES
  .filter((name) => "isSecret" in SETTINGS[name])
  .map((name) => VARIABLES[name]);

/**
 * Replaces every configured secret in a text that is about to be shown. Our own
 * messages hold none; this is for messages of libraries and systems.
 */
export function redact(
  text: string,
  env: (name: string) => string | undefined,
): string {
  let shown = withoutPasswords(text);
  for (const name of SECRET_VARIABLES) {
    for (const secret of (env(name) ?? "").split(/[,\s]/)) {
      // A token of the API stands behind its scope and name, and what opens a
      // service behind the name of the service.
      const value = secret.replace(
        /^(?:(?:read|support|operate)(?:@[^:]*)?|slack|pagerduty):/,
        "",
      );
      if (value.length > 3) shown = shown.replaceAll(value, "[secret]");
    }
  }
  return shown;
}
