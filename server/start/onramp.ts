import type { ChainsFile } from "../../witness/mod.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import type { ConnectionInfo } from "../../webhooks/mod.ts";
import type { Handler, HandlerOptions, Handlers, Pattern } from "./handlers.ts";
import type { OnProblem, Problem } from "../alarms/alarm_message.ts";
import type { ExpectedSale, Sale, SaleInput } from "./sale.ts";
import { errorCode } from "../../core/guards.ts";
import type {
  HttpServer,
  HttpServerOptions,
} from "../../core/serving/http_server.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import type { OnrampClient } from "../../client/mod.ts";
import type { FindResult, Ledger, Subscription } from "../../ledger/mod.ts";

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

/** Where to listen. */
export interface ListenOptions {
  /**
   * Port; 0 takes a free one.
   * @default {8787}
   */
  readonly port?: number;
  /**
   * Address; `0.0.0.0` for every one of the machine.
   * @default {"127.0.0.1"}
   */
  readonly hostname?: string;
}

/** Serves webhooks and sessions at their usual addresses, and nothing else. */
export async function serveOnramp(
  { webhooks, sessions }: {
    readonly webhooks: HttpServerOptions["handler"];
    readonly sessions: HttpServerOptions["handler"];
  },
  hasSessions: boolean,
  { port = 8787, hostname = "127.0.0.1" }: ListenOptions,
): Promise<HttpServer> {
  const options: HttpServerOptions = {
    port,
    hostname,
    handler: async (request, info) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/webhooks/")) {
        return await webhooks(request, info);
      }
      if (hasSessions && pathname === "/sessions") {
        return await sessions(request, info);
      }
      return new Response("Not found\n", { status: 404 });
    },
  };
  try {
    return await openHttpServer(options);
  } catch (error) {
    const code = String(errorCode(error));
    const why = WHY[code]?.(port, hostname);
    if (why === undefined) throw error;
    throw Object.assign(new Error(`Cannot listen: ${why}`), { code });
  }
}

const WHY: Readonly<
  Record<string, (port: number, hostname: string) => string>
> = {
  EADDRINUSE: (port) =>
    `port ${port} is taken; pass another to listen({ port }), or 0 for a free one`,
  EACCES: (port) =>
    `port ${port} may not be used by this user; pass one above 1023 to listen({ port })`,
  EADDRNOTAVAIL: (_, hostname) =>
    `the address ${hostname} is not one of this machine's; pass one that is ` +
    'to listen({ hostname }), "127.0.0.1" for this machine alone',
};

/** Status of the whole program. */
export interface OnrampStatus {
  /** Whether there is no problem; there may be warnings. */
  readonly ok: boolean;
  /** Environment of the ledger. */
  readonly environment: string;
  /** Every condition that was checked, as `onProblem` receives it. */
  readonly conditions: readonly Problem[];
}

/**
 * A running program: makes sessions, takes webhooks, polls the service, and
 * calls handlers.
 */
export interface Onramp extends AsyncDisposable {
  /**
   * Takes the service's webhooks: for any path whose last segment is the secret.
   * It answers 204 once a delivery is stored.
   */
  readonly webhooks: (
    request: Request,
    info?: ConnectionInfo,
  ) => Promise<Response>;
  /**
   * Answers a page that asks for a session when a user clicks: `POST`, JSON,
   * same origin only, `{ session_id, click_id, valid_for_ms }`. It has no rate
   * limit: put your framework's limiter before it, by user.
   *
   * @throws {TypeError} When `startOnramp` was given no `sessions`.
   */
  readonly sessions: (request: Request) => Promise<Response>;
  /**
   * Serves both over HTTP, where your program has no server of its own:
   * `/webhooks/SECRET` and, where `sessions` were given, `/sessions`. It is
   * closed with the rest.
   *
   * @returns The port that it listens on.
   * @throws {Error} With `code` `EADDRINUSE`, `EACCES` and others of the system.
   */
  readonly listen: (
    options?: ListenOptions,
  ) => Promise<{ readonly port: number }>;
  /**
   * Makes a session with the service and records what was asked for, under a
   * new click id. Ask when the customer clicks: a session opens one widget,
   * within 30 seconds.
   *
   * @throws {ValidationError} When the service would refuse it; lists each fault.
   * @throws {OnrampError} When the service does not make it.
   * @throws {UsageError} When there is no API key.
   * @throws {LedgerError} When it could not be recorded.
   */
  readonly sell: (sale: SaleInput) => Promise<Sale>;
  /**
   * Records what is expected of an order whose widget is opened without a
   * session, or of a basket that has changed since.
   *
   * @returns The click id to open the widget with.
   * @throws {ExpectationError} `invalid`, or `click_id_in_use`.
   * @throws {LedgerError} When it could not be recorded.
   */
  readonly expect: (
    expected: ExpectedSale,
  ) => Promise<{ readonly id: string; readonly clickId: string }>;
  /**
   * Calls a handler for each transition that matches, at least once: it is
   * called again when it throws, and after a crash. Do nothing twice for the
   * same `transition.key`, and release goods only while `release` is `yes`.
   *
   * A name that was never used before begins with what happens from now on; in
   * a process that started on a ledger without transitions, with the first one.
   *
   * @throws {TypeError} For a pattern that names no state, and for a name that
   * another handler has.
   */
  readonly on: <On extends Pattern>(
    pattern: On | readonly On[],
    handler: Handler<On>,
    options?: HandlerOptions,
  ) => Promise<Subscription>;
  /** Orders as they are known now. */
  readonly orders: Ledger["orders"];
  /** Users as they are known now. */
  readonly users: Ledger["users"];
  /** Finds orders and users by anything that names one. */
  readonly find: (text: string) => Promise<FindResult>;
  /** Checks every condition, as `doctor` does. */
  readonly status: () => Promise<OnrampStatus>;
  /** The ledger, for everything else. */
  readonly ledger: Ledger;
  /** Client of the service; null without an API key. */
  readonly client: OnrampClient | null;
  /**
   * Finishes deliveries and handlers that are under way, folds what is stored,
   * and lets go of the ledger.
   */
  readonly close: () => Promise<void>;
}
