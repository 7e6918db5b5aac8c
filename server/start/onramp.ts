import type { OnrampClient } from "../../client/mod.ts";
import type { FindResult, Ledger, Subscription } from "../../ledger/mod.ts";
import type { ConnectionInfo } from "../../webhooks/mod.ts";
import type { Handler, HandlerOptions, Pattern } from "./handlers.ts";
import type { ListenOptions } from "./listen.ts";
import type { Problem } from "../alarms/problem.ts";
import type { ExpectedSale, Sale, SaleInput } from "./sale.ts";

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
