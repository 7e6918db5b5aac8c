import type { Driver, ResultSet, Statement } from "../store/driver/driver.ts";
import { pageSize } from "../store/tables/query_values.ts";
import {
  deleteDead,
  hastenRetrying,
  type QueuedTransition,
  queuedTransitionOf,
  retryDead,
  selectDead,
  selectQueued,
} from "../store/tables/subscriptions/queued_transitions.ts";
import {
  switchTargetOff,
  switchTargetOn,
  targetOf,
} from "../store/tables/subscriptions/forward_targets.ts";
import {
  selectSubscriptions,
  SUBSCRIPTIONS,
  type SubscriptionStatus,
} from "../store/tables/subscriptions/subscriptions.ts";
import {
  logReleasesAgain,
  logStates,
  selectUnlogged,
  selectWithheld,
} from "../store/tables/transitions.ts";
import {
  type FiredHistory,
  fireHistoric,
  type FireHistoryOptions,
} from "./fire_historic.ts";
import {
  type Entity,
  type MachineName,
  parseTransitionKey,
  transitionKey,
} from "../machines/transition.ts";

/** A state that no subscription received. */
export interface Unfired {
  /** What to pass to {@linkcode Subscriptions.fire}. */
  readonly key: string;
  /** Whether it is of an order or a user. */
  readonly entity: Entity;
  /** The machine that shows it. */
  readonly machine: MachineName;
  /** Order or user identifier. */
  readonly id: string;
  /** Its trust. */
  readonly trust: string;
  /** Its status. */
  readonly status: string;
  /** Which entry into this status it is, from 1. */
  readonly entry: number;
}

/** Which states no subscription received. */
export interface UnfiredQuery {
  /** Also those that an import brought. @default false */
  readonly imported?: boolean;
  /** At most this many of orders and of users, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Manages subscriptions: what they could not deliver, or never received. */
export class Subscriptions {
  readonly #driver: Driver;
  readonly #now: () => number;

  /**
   * Works on a database. {@linkcode openLedger} creates this object.
   *
   * @param driver The database of a ledger.
   * @param now The clock, in ms.
   */
  constructor(driver: Driver, now: () => number) {
    this.#driver = driver;
    this.#now = now;
  }

  /**
   * Reads the progress of each subscription.
   *
   * @param options Where to stop counting: a count that large means "at least",
   * and takes no longer however much there is. @default {everything is counted}
   * @throws {LedgerError} When the database fails.
   */
  async list(
    { countUpTo }: { readonly countUpTo?: number } = {},
  ): Promise<SubscriptionStatus[]> {
    const select = selectSubscriptions(countUpTo);
    const [rows] = await this.#driver.batch([select], "read");
    return rows?.rows.map((row) => ({
      ...SUBSCRIPTIONS.read(row),
      target: targetOf(row.slice(SUBSCRIPTIONS.count)),
    })) ?? [];
  }

  /**
   * Reads what a subscription could not deliver yet, by order of the log.
   *
   * @param name The subscription.
   * @param order Only what is of one order. @default {of all}
   * @throws {LedgerError} When the database fails.
   */
  async queued(name: string, order?: string): Promise<QueuedTransition[]> {
    const select = selectQueued(name, order);
    const [rows] = await this.#driver.batch([select], "read");
    return rows?.rows.map(queuedTransitionOf) ?? [];
  }

  /**
   * Reads what a subscription has given up on, by order of the log.
   *
   * @param name The subscription.
   * @param limit At most this many. @default all
   * @throws {LedgerError} When the database fails.
   */
  async deadLetters(name: string, limit?: number): Promise<QueuedTransition[]> {
    const [rows] = await this.#driver.batch([selectDead(name, limit)], "read");
    return rows?.rows.map(queuedTransitionOf) ?? [];
  }

  /**
   * Delivers dead letters again, with as many attempts as at first. One whose
   * order or user has gone on without it is delivered as `late`.
   *
   * @param name The subscription.
   * @param key Only this transition. @default all
   * @returns How many.
   * @throws {LedgerError} When the database fails.
   */
  retry(name: string, key?: string): Promise<number> {
    return this.#settle(retryDead(name, key));
  }

  /**
   * Delivers at once what failed and waits for its next attempt.
   *
   * @param name The subscription.
   * @returns How many.
   * @throws {LedgerError} When the database fails.
   */
  hasten(name: string): Promise<number> {
    return this.#settle(hastenRetrying(name));
  }

  /**
   * Deletes dead letters: they are never delivered, and later transitions of
   * their orders and users no longer say that they are missed.
   *
   * @param name The subscription.
   * @param key Only this transition. @default all
   * @returns How many.
   * @throws {LedgerError} When the database fails.
   */
  drop(name: string, key?: string): Promise<number> {
    return this.#settle(deleteDead(name, key));
  }

  /**
   * Switches a target off: nothing is sent to it until it is resumed, and
   * nothing that comes meanwhile is lost.
   *
   * @param name The subscription.
   * @param at When, UTC ISO 8601.
   * @returns Whether it was on.
   * @throws {LedgerError} When the database fails.
   */
  async stop(name: string, at: string): Promise<boolean> {
    const off = { at, reason: "was stopped by a person" };
    return await this.#settle(switchTargetOff(name, off)) > 0;
  }

  /**
   * Switches a target on again, after it answered that it wants no more or was
   * stopped. It then receives everything that came meanwhile.
   *
   * @param name The subscription.
   * @returns Whether it was off.
   * @throws {LedgerError} When the database fails.
   */
  async resume(name: string): Promise<boolean> {
    return await this.#settle(switchTargetOn(name)) > 0;
  }

  /**
   * Lists states of orders and users that no subscription received: those that
   * a refold derived from old events and, on request, those of an import.
   *
   * @param query Which ones.
   * @throws {LedgerError} When the database fails.
   */
  async unfired(query: UnfiredQuery = {}): Promise<Unfired[]> {
    const which = {
      imported: query.imported ?? false,
      limit: pageSize(query.limit),
    };
    const [orders, users, releases] = await this.#driver.batch([
      selectUnlogged("order", which),
      selectUnlogged("user", which),
      selectWithheld(which.limit),
    ], "read");
    const unfired = (entity: Entity, result: ResultSet | undefined) =>
      result?.rows.map(([id, machine, trust, status, entry]): Unfired => {
        const state = {
          entity,
          machine: machine as MachineName,
          id: id as string,
          trust: trust as string,
          status: status as string,
          entry: entry as number,
        };
        return { key: transitionKey(state), ...state };
      }) ?? [];
    return [
      ...unfired("order", releases),
      ...unfired("order", orders),
      ...unfired("user", users),
    ];
  }

  /**
   * Logs states that no subscription received as new transitions, so that each
   * subscription to them receives them.
   *
   * @param keys From {@linkcode Subscriptions.unfired}; a key whose order or
   * user is in another state by now is skipped.
   * @returns How many were logged.
   * @throws {LedgerError} When the database fails.
   */
  async fire(keys: readonly string[]): Promise<number> {
    const recordedAt = new Date(this.#now()).toISOString();
    const states = keys.flatMap(parseTransitionKey);
    const results = await this.#driver.batch([
      logStates("order", states, recordedAt),
      logStates("user", states, recordedAt),
      logReleasesAgain(states, recordedAt),
    ], "write");
    return results.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  }

  /**
   * Sends one subscription what happened before the ledger went live, in order
   * and each once: a second call sends nothing again. Releases are left out,
   * because the goods may have been handed over before; to ship one, pass its
   * key to {@linkcode Subscriptions.fire}.
   *
   * @param name The subscription.
   * @param options Whether only to count, and a signal.
   * @returns How many it receives, and how many releases are left out.
   * @throws {LedgerError} When the database fails.
   */
  fireHistoric(
    name: string,
    options: FireHistoryOptions = {},
  ): Promise<FiredHistory> {
    return fireHistoric(this.#driver, name, { ...options, now: this.#now() });
  }

  async #settle(statement: Statement): Promise<number> {
    const [result] = await this.#driver.batch([statement], "write");
    return result?.rowsAffected ?? 0;
  }
}
