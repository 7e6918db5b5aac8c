import type { ChainsFile } from "../../witness/mod.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import type { ConnectionInfo } from "../../webhooks/mod.ts";
import type { Handlers } from "./handlers.ts";
import type { OnProblem } from "../alarms/problem.ts";
import type { SaleInput } from "./sale.ts";

export type {
  ChainSettings,
  ChainsFile,
  NodeSettings,
  TokenSettings,
} from "../../witness/mod.ts";
export type { WitnessRule } from "../../core/chain/verdict.ts";

/** Settings that have a variable each; an option wins over its variable. */
export interface StartSettings {
  /** `RAMPKIT_ENVIRONMENT`. @default {the ledger's; of a new one "sandbox"} */
  readonly environment?: "production" | "sandbox";
  /** `RAMPKIT_API_KEY`: key of the partner API. */
  readonly apiKey?: string;
  /**
   * `RAMPKIT_WEBHOOK_SECRET`: end of the webhook address; several during a
   * rotation.
   */
  readonly webhookSecrets?: string | readonly string[];
  /** `RAMPKIT_PARTNER_ID`, for the widget. */
  readonly partnerId?: string;
  /** `RAMPKIT_PUBLIC_URL`: address of the endpoint from outside. */
  readonly publicUrl?: string;
  /** `RAMPKIT_DATABASE_URL`: the ledger. @default {"file:rampkit.db"} */
  readonly databaseUrl?: string;
  /** `RAMPKIT_DATABASE_TOKEN` of a remote database. */
  readonly databaseToken?: string;
  /**
   * `RAMPKIT_SPOOL_DIR`: folder that keeps answered deliveries until the ledger
   * has them.
   *
   * @default {beside a database file; none for a database on a server}
   */
  readonly spoolDir?: string;
  /**
   * `RAMPKIT_NOTIFY`: where alarms are sent: `slack:URL`, `pagerduty:KEY`.
   *
   * @default {only `onProblem`}
   */
  readonly notify?: string | readonly string[];
  /** `RAMPKIT_CHAINS`: file that names your own chain nodes. @default {none} */
  readonly chainsFile?: string;
  /**
   * `RAMPKIT_REQUIRE_WITNESS`: whether releases of orders that begin from now on
   * wait until your chain nodes have seen the transfer: `all`, `supported` (only
   * of orders that they can look at) or `off`. The ledger keeps it.
   *
   * @default {as the ledger has it; a new one "off"}
   */
  readonly requireWitness?: WitnessRule;
  /** `RAMPKIT_BASE_URL`: partner API. @default {the environment's} */
  readonly baseUrl?: string;
  /** `RAMPKIT_CARDS_BASE_URL`. @default {the environment's} */
  readonly cardsBaseUrl?: string;
  /** `RAMPKIT_WIDGET_ORIGIN`. @default {the environment's} */
  readonly widgetOrigin?: string;
  /** `RAMPKIT_DASHBOARD_URL`. @default {the environment's} */
  readonly dashboardUrl?: string;
}

/** Who may ask for a session, and for which purchase. */
export interface PageSessions<User> {
  /** The signed-in user; null when there is none. */
  readonly authorise: (request: Request) => User | null | Promise<User | null>;
  /**
   * Decides what the user is sold, by your own records; null refuses.
   * `input` is what the page sent along: untrusted, of any shape.
   */
  readonly plan: (
    ask: { readonly user: User; readonly input: unknown },
  ) => SaleInput | null | Promise<SaleInput | null>;
  /**
   * Origins of the pages that may ask, where they live elsewhere; route
   * `OPTIONS` to the endpoint too.
   *
   * @default {that of `publicUrl`, else the request's host}
   */
  readonly allowedOrigins?: readonly string[];
}

/** A signal of the system that ends a program. */
export type StopSignal = "SIGTERM" | "SIGINT";

/** How a program starts. */
export interface StartOptions<User = unknown> extends StartSettings {
  /**
   * Time from which handlers are called, UTC ISO 8601. What ended before is
   * logged and booked, but not sent.
   *
   * @default {the first start}
   */
  readonly goLive?: string;
  /**
   * Module of the thread in which a database file works, where a bundler has put
   * it: its address. It is `@rampkit/onramp/thread`, bundled as a file of its
   * own.
   *
   * @default {the one of this package}
   */
  readonly threadModule?: string | URL;
  /** Whether this process asks the service. @default {true} */
  readonly poll?: boolean;
  /**
   * Your own chain nodes, in place of a file of them; docs/integrate.md says more. Each
   * confirmed success is looked at until it is settled.
   *
   * @default {those of `chainsFile`}
   */
  readonly chains?: ChainsFile;
  /** Requests a second to the service. @default {4} */
  readonly requestsPerSecond?: number;
  /**
   * Addresses and networks (CIDR) that webhooks are taken from.
   *
   * @default {everybody who knows a secret}
   */
  readonly allowlist?: readonly string[];
  /**
   * Finds the address that a webhook came from: behind a proxy,
   * `proxiedAddress()`.
   *
   * @default {the address of the connection}
   */
  readonly clientAddress?: (
    request: Request,
    info: ConnectionInfo | undefined,
  ) => string | null;
  /** Handlers to register before anything is read. @default {none} */
  readonly on?: Handlers;
  /** Who may ask for sessions. @default {nobody: `sessions` cannot be used} */
  readonly sessions?: PageSessions<User>;
  /**
   * Signals on which it closes. Afterwards the process exits with 0, unless the
   * program handles that signal too and ends itself.
   *
   * @default {none}
   */
  readonly stopOn?: readonly StopSignal[];
  /**
   * Called once for each problem, and once when it is over.
   *
   * @default {prints a line each to standard error}
   */
  readonly onProblem?: OnProblem;
  /** Reads a variable of the environment. @default {that of the process} */
  readonly env?: (name: string) => string | undefined;
  /** Sends requests to the service and to chain nodes. @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** Clock, ms since the epoch. @default {Date.now} */
  readonly now?: () => number;
}
