/** A setting that an environment variable makes. */
interface Setting {
  /** Name of the variable. */
  readonly variable: string;
  /** What it says, as README prints it. */
  readonly meaning: string;
  /** What holds where it is not set, as README prints it. */
  readonly otherwise: string;
  /** Whether no message may show its value; it has no flag either. */
  readonly isSecret?: true;
}

/** The database used when none is named. */
export const DEFAULT_DATABASE_URL = "file:rampkit.db";

/** Every setting that has a variable, in the order in which README lists them. */
export const SETTINGS = {
  environment: {
    variable: "RAMPKIT_ENVIRONMENT",
    meaning: "`production` or `sandbox`; a ledger is stamped with it",
    otherwise: "the ledger's stamp; a new one `sandbox`",
  },
  apiKey: {
    variable: "RAMPKIT_API_KEY",
    meaning: "key of the partner API; without it nothing is confirmed",
    otherwise: "none",
    isSecret: true,
  },
  webhookSecrets: {
    variable: "RAMPKIT_WEBHOOK_SECRET",
    meaning:
      "secrets in the webhook address, separated by commas; each is valid",
    otherwise: "none",
    isSecret: true,
  },
  partnerId: {
    variable: "RAMPKIT_PARTNER_ID",
    meaning: "partner id, for the widget",
    otherwise: "none",
  },
  publicUrl: {
    variable: "RAMPKIT_PUBLIC_URL",
    meaning: "public address of the endpoint, for `doctor`",
    otherwise: "none",
  },
  databaseUrl: {
    variable: "RAMPKIT_DATABASE_URL",
    meaning: "`file:…`, or `libsql:`/`https:` for sqld or Turso",
    otherwise: `\`${DEFAULT_DATABASE_URL}\``,
  },
  databaseToken: {
    variable: "RAMPKIT_DATABASE_TOKEN",
    meaning: "token of a remote database",
    otherwise: "none",
    isSecret: true,
  },
  spoolDir: {
    variable: "RAMPKIT_SPOOL_DIR",
    meaning: "folder that keeps answered deliveries until the ledger has them",
    otherwise: "beside the file; for a server none",
  },
  forwardTo: {
    variable: "RAMPKIT_FORWARD_TO",
    meaning: "addresses that transitions are sent to, separated by commas",
    otherwise: "nowhere",
  },
  forwardSecrets: {
    variable: "RAMPKIT_FORWARD_SECRET",
    meaning: "what signs them: `whsec_…`, separated by commas",
    otherwise: "none",
    isSecret: true,
  },
  apiTokens: {
    variable: "RAMPKIT_API_TOKENS",
    meaning: "who may use the HTTP API and the console: `read:TOKEN`, …",
    otherwise: "on this machine, read without",
    isSecret: true,
  },
  baseUrl: {
    variable: "RAMPKIT_BASE_URL",
    meaning: "address of the partner API",
    otherwise: "the environment's",
  },
  cardsBaseUrl: {
    variable: "RAMPKIT_CARDS_BASE_URL",
    meaning: "address of card registration",
    otherwise: "the environment's",
  },
  widgetOrigin: {
    variable: "RAMPKIT_WIDGET_ORIGIN",
    meaning: "origin of the widget",
    otherwise: "the environment's",
  },
  dashboardUrl: {
    variable: "RAMPKIT_DASHBOARD_URL",
    meaning: "address of the dashboard",
    otherwise: "the environment's",
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** The variable of each setting, for help texts and error messages. */
export const VARIABLES = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { variable }]) => [name, variable]),
) as Readonly<Record<keyof typeof SETTINGS, string>>;

/** The table of variables that README prints. */
export function settingsTable(): {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
} {
  return {
    head: ["variable", "meaning", "default"],
    rows: Object.values(SETTINGS).map(({ variable, meaning, otherwise }) => [
      `\`${variable}\``,
      meaning,
      otherwise,
    ]),
  };
}
