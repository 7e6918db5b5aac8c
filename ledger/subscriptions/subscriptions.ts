/** What subscriptions could not deliver, or never received, and what to do about it. */
import {
  type Driver,
  listed,
  type Rows,
  select,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import type { Transition } from "../machines/transition.ts";
import { shownOf } from "../projection/log.ts";
import { pageSize } from "../reads/pages.ts";
import { timeOf } from "../store/events.ts";
import { DATABASE_NOW, SUBSCRIPTION_LEASE } from "../store/leases.ts";
import {
  type FiredHistory,
  fireHistoric,
  type FireHistoryOptions,
  fireStates,
  listUnfired,
  type Unfired,
} from "./fire.ts";
import { hasten, outboxRowOf, selectOutbox } from "./outbox.ts";

/** Where the transitions of a subscription are forwarded to. */
export interface ForwardTarget {
  /** The address without its query, which may hold a secret. */
  readonly url: string;
  /** Since when nothing is sent to it, UTC ISO 8601; null while it is on. */
  readonly offAt: string | null;
  /** Why it was switched off; null while it is on. */
  readonly offReason: string | null;
}

/** Columns that {@linkcode targetOf} reads, of `targets AS f`. */
const TARGET = "f.url, f.off_at, f.off_reason";

const targetOf = ([url, offAt, offReason]: Rows[number]) =>
  ({ url, offAt, offReason }) as ForwardTarget;

/** Stores a target, unless it is known; one that is off stays off. */
export async function registerTarget(
  driver: Driver,
  name: string,
  url: string,
): Promise<ForwardTarget> {
  const [, [found = []] = []] = await write(driver, [
    statement(
      `INSERT INTO targets (name, url) VALUES (?, ?)
        ON CONFLICT (name) DO UPDATE SET url = excluded.url`,
      ...[name, url],
    ),
    statement(`SELECT ${TARGET} FROM targets AS f WHERE name = ?`, name),
  ]);
  return targetOf(found);
}

export async function isTargetOff(
  driver: Driver,
  name: string,
): Promise<boolean> {
  const sql = "SELECT 1 FROM targets WHERE name = ? AND off_at IS NOT NULL";
  return (await select(driver, sql, name)).length === 1;
}

/** Switches a target off, so that nothing is sent to it, or on. */
export async function switchTarget(
  driver: Driver,
  name: string,
  off: { readonly at: string; readonly reason: string } | null,
): Promise<boolean> {
  const switched = await changed(driver, {
    sql: `UPDATE targets SET off_at = ?1, off_reason = ?2
      WHERE name = ?3 AND (off_at IS NULL) <> (?1 IS NULL)`,
    args: [off?.at ?? null, off?.reason ?? null, name],
  });
  return switched > 0;
}

async function changed(driver: Driver, made: Statement): Promise<number> {
  const [result] = await driver.batch([made], "write");
  return result?.rowsAffected ?? 0;
}

/** Which states no subscription received. */
export interface UnfiredQuery {
  /** Also those that an import brought. @default false */
  readonly imported?: boolean;
  /** At most this many of orders and of users, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/**
 * A transition that a subscription could not deliver yet.
 *
 * - `retrying`: the handler failed; it is called at `dueAt`.
 * - `waiting`: an earlier transition of the same entity comes first.
 * - `dead`: the handler failed permanently after all attempts; later ones of the
 *   entity go on without it, and a person has to decide.
 */
export interface QueuedTransition {
  /** What is sent. */
  readonly transition: Transition;
  /** `retrying` after a failure, `waiting` its turn, `dead` when given up. */
  readonly state: "retrying" | "waiting" | "dead";
  /** How often the handler was called. */
  readonly attempts: number;
  /** When it is called next, UTC ISO 8601; empty for at once. */
  readonly dueAt: string;
  /** Last error of the handler. */
  readonly error: string | null;
  /** Whether a later transition of its order or user was delivered. */
  readonly overtaken: boolean;
}

/** Progress of a subscription. */
export interface SubscriptionStatus {
  /** Its name. */
  readonly name: string;
  /** What it takes. */
  readonly on: readonly string[];
  /** When it was first used, UTC ISO 8601. */
  readonly createdAt: string;
  /** Transitions that it takes and was not told of yet, nor tried to be. */
  readonly behind: number;
  /** Deliveries that failed and are tried again. */
  readonly retrying: number;
  /** Deliveries that wait for an earlier one of the same entity. */
  readonly waiting: number;
  /** Deliveries that failed permanently after all attempts. */
  readonly dead: number;
  /** Error of one that is being retried; null without any. */
  readonly lastError: string | null;
  /** Where it is forwarded to; null of a subscription of your own program. */
  readonly target: ForwardTarget | null;
}

/** Not told of yet, nor tried to be. */
const IS_NEW = "b.state IN ('due', 'late') AND b.due_at = 0";
const IS_DEAD = "b.state IN ('dead', 'passed')";
const IS_RETRIED = "b.state IN ('due', 'late') AND b.due_at > 0";

const counted = (where: string) =>
  `(SELECT count(*) FROM (SELECT 1 FROM outbox AS b
    WHERE b.name = s.name AND ${where} LIMIT ?1))`;

const STATUSES = `SELECT s.name, s.patterns, s.created_at, ${counted(IS_NEW)},
    ${counted(IS_RETRIED)}, ${counted("b.state = 'waiting'")}, ${
  counted(IS_DEAD)
}, (SELECT b.error FROM outbox AS b WHERE b.name = s.name
      AND b.state IN ('due', 'late') AND b.error IS NOT NULL
      ORDER BY b.due_at DESC LIMIT 1), ${TARGET}
  FROM subscriptions AS s LEFT JOIN targets AS f ON f.name = s.name
  ORDER BY s.name`;

/** Manages subscriptions: what they could not deliver, or never received. */
export class Subscriptions {
  readonly #driver: Driver;
  readonly #now: () => number;

  /** {@linkcode openLedger} makes one. */
  constructor(driver: Driver, now: () => number) {
    this.#driver = driver;
    this.#now = now;
  }

  /**
   * Reads the progress of each subscription.
   *
   * @param options Where to stop counting: a count that large means "at least", and
   * takes no longer however much there is. @default {everything is counted}
   */
  async list(
    { countUpTo = Number.MAX_SAFE_INTEGER }: { readonly countUpTo?: number } =
      {},
  ): Promise<SubscriptionStatus[]> {
    return (await select(this.#driver, STATUSES, countUpTo)).map(statusOf);
  }

  /**
   * Reads what a subscription could not deliver yet, by order of the log.
   *
   * @param order Only what is of one order. @default {of all}
   */
  async queued(name: string, order?: string): Promise<QueuedTransition[]> {
    const ofOrder = "b.no = (SELECT no FROM orders WHERE id = ?3)";
    const where = `NOT (${IS_NEW}) AND (?3 IS NULL OR ${ofOrder})`;
    return await this.#outbox(where, name, -1, order ?? null);
  }

  /**
   * Reads what a subscription has given up on, by order of the log.
   *
   * @param limit At most this many. @default all
   */
  async deadLetters(name: string, limit = -1): Promise<QueuedTransition[]> {
    return await this.#outbox(IS_DEAD, name, limit);
  }

  /**
   * Delivers dead letters again, with as many attempts as at first. One whose order
   * or user has gone on without it is delivered as `late`.
   *
   * @param key Only this transition. @default all
   * @returns How many.
   */
  retry(name: string, key?: string): Promise<number> {
    return this.#ofDead(
      `UPDATE outbox AS b SET attempts = 0, due_at = 1,
        state = CASE state WHEN 'dead' THEN 'due' ELSE 'late' END`,
      name,
      key,
    );
  }

  /**
   * Delivers at once what failed and waits for its next attempt.
   *
   * @returns How many.
   */
  hasten(name: string): Promise<number> {
    return changed(this.#driver, hasten(name, this.#now()));
  }

  /**
   * Deletes dead letters: they are never delivered, and later transitions of their
   * orders and users no longer say that they are missed.
   *
   * @param key Only this transition. @default all
   * @returns How many.
   */
  drop(name: string, key?: string): Promise<number> {
    return this.#ofDead("DELETE FROM outbox AS b", name, key);
  }

  /**
   * Switches a target off: nothing is sent to it until it is resumed, and nothing
   * that comes meanwhile is lost.
   *
   * @param at When, UTC ISO 8601.
   * @returns Whether it was on.
   */
  stop(name: string, at: string): Promise<boolean> {
    const off = { at, reason: "was stopped by a person" };
    return switchTarget(this.#driver, name, off);
  }

  /**
   * Switches a target on again, after it answered that it wants no more or was
   * stopped. It then receives everything that came meanwhile.
   *
   * @returns Whether it was off.
   */
  resume(name: string): Promise<boolean> {
    return switchTarget(this.#driver, name, null);
  }

  /**
   * Lists states of orders and users that no subscription received: those that a
   * refold derived from old events, releases that wait for a person and, on request,
   * the states of an import.
   */
  unfired(
    { imported = false, limit }: UnfiredQuery = {},
  ): Promise<Unfired[]> {
    return listUnfired(this.#driver, imported, pageSize(limit));
  }

  /**
   * Logs states that no subscription received as new transitions, so that each
   * subscription to them receives them.
   *
   * @param keys From {@linkcode Subscriptions.unfired}; a key whose order or user is
   * in another state by now is skipped.
   * @returns How many were logged.
   */
  fire(keys: readonly string[]): Promise<number> {
    return fireStates(this.#driver, keys);
  }

  /**
   * Sends one subscription what happened before the ledger went live, in order and
   * each once: a second call sends nothing again. Releases are left out, because the
   * goods may have been handed over before; to ship one, pass its key to
   * {@linkcode Subscriptions.fire}.
   *
   * @returns How many it receives, and how many releases are left out.
   */
  fireHistoric(
    name: string,
    options: FireHistoryOptions = {},
  ): Promise<FiredHistory> {
    return fireHistoric(this.#driver, name, options);
  }

  async #outbox(where: string, ...args: readonly SqlValue[]) {
    const sql = selectOutbox(
      `b.name = ?1 AND ${where} ORDER BY b.seq LIMIT ?2`,
    );
    return (await select(this.#driver, sql, ...args)).map(queuedOf);
  }

  async #ofDead(action: string, name: string, key?: string): Promise<number> {
    const found = key === undefined ? [] : await this.deadLetters(name);
    const seqs = found.map(({ transition }) => transition)
      .filter((one) => one.key === key).map(({ seq }) => seq);
    return changed(this.#driver, {
      sql: `${action} WHERE b.name = ?1 AND ${IS_DEAD}
        AND (?2 IS NULL OR b.seq IN (SELECT value FROM json_each(?2)))`,
      args: [name, key === undefined ? null : listed(seqs)],
    });
  }
}

function statusOf(row: readonly SqlValue[]): SubscriptionStatus {
  const [name, on, createdAt, behind, retrying, waiting, dead, error] = row;
  return {
    name: String(name),
    on: JSON.parse(String(on)),
    createdAt: timeOf(createdAt) ?? "",
    behind: Number(behind),
    retrying: Number(retrying),
    waiting: Number(waiting),
    dead: Number(dead),
    lastError: (error ?? null) as string | null,
    target: row[8] === null ? null : targetOf(row.slice(8)),
  };
}

function queuedOf(row: Rows[number]): QueuedTransition {
  const { transition, state, attempts, dueAt, error } = outboxRowOf(row);
  return {
    transition: shownOf(transition),
    state: state === "waiting"
      ? "waiting"
      : state === "due" || state === "late"
      ? "retrying"
      : "dead",
    attempts,
    dueAt: dueAt <= 1 ? "" : new Date(dueAt).toISOString(),
    error,
    overtaken: state === "passed" || state === "late",
  };
}

/** A subscription that nobody delivers under, and since when it has something. */
interface Unattended {
  readonly name: string;
  /** When the first was logged that it was not told of, UTC ISO 8601. */
  readonly since: string;
}

/** Subscriptions that have had something to tell since before a time, and nobody does. */
export async function readUnattended(
  driver: Driver,
  before: string,
): Promise<Unattended[]> {
  const first = (where: string) =>
    `(SELECT b.seq FROM outbox AS b WHERE b.name = s.name AND b.state = 'due'
        AND b.due_at ${where} LIMIT 1)`;
  const found = await select(
    driver,
    `SELECT s.name, e.recorded_at FROM subscriptions AS s
      JOIN log AS t ON t.seq = coalesce(${first("= 0 ORDER BY b.seq")},
        ${first("BETWEEN 1 AND ? ORDER BY b.due_at")})
      JOIN events AS e ON e.position = t.position
      WHERE NOT EXISTS (SELECT 1 FROM leases AS l
        WHERE l.name = '${SUBSCRIPTION_LEASE}' || s.name
          AND l.expires_at > ${DATABASE_NOW})
      ORDER BY s.name`,
    Date.parse(before),
  );
  return found.map(([name, at]) => ({
    name: String(name),
    since: timeOf(at) ?? "",
  })).filter(({ since }) => since < before);
}
