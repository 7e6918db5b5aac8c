import type { Driver } from "../store/driver.ts";
import { pageSize } from "./cursor.ts";
import { type Letter, letterColumns, letterOf } from "./letters.ts";
import { liveGeneration } from "./select_page.ts";
import { type Entity, transitionKey } from "./transition.ts";

/** How far a subscription is. */
export interface SubscriptionStatus {
  /** Its name. */
  readonly name: string;
  /** What it takes. */
  readonly on: readonly string[];
  /** When it was first used, UTC ISO 8601. */
  readonly createdAt: string;
  /** Transitions after its checkpoint, whether it takes them or not. */
  readonly behind: number;
  /** Deliveries that failed and are tried again. */
  readonly retrying: number;
  /** Deliveries that wait for an earlier one of the same entity. */
  readonly waiting: number;
  /** Deliveries that failed too often. */
  readonly dead: number;
}

/** A state that no subscription was told of. */
export interface Unfired {
  /** What to pass to {@linkcode Subscriptions.fire}. */
  readonly key: string;
  /** Whether it is of an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** Its trust. */
  readonly trust: string;
  /** Its status. */
  readonly status: string;
}

/** Which states nobody was told of. */
export interface UnfiredQuery {
  /** Also those that an import brought. @default false */
  readonly imported?: boolean;
  /** At most this many of orders and of users, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Looks after subscriptions: what they could not deliver, or never heard of. */
export class Subscriptions {
  readonly #driver: Driver;
  readonly #now: () => number;

  /**
   * Looks after a database; {@linkcode openLedger} makes one.
   *
   * @param driver A database that has been migrated.
   * @param now The clock, in ms.
   */
  constructor(driver: Driver, now: () => number) {
    this.#driver = driver;
    this.#now = now;
  }

  /**
   * Says how far each subscription is.
   *
   * @throws {LedgerError} When the database fails.
   */
  async list(): Promise<SubscriptionStatus[]> {
    const count = (state: string) =>
      `(SELECT count(*) FROM letters AS l
        WHERE l.subscription = s.name AND l.state = '${state}')`;
    const [rows] = await this.#driver.batch([{
      sql: `SELECT s.name, s.patterns, s.created_at,
          (SELECT count(*) FROM transitions AS t WHERE t.seq > s.seq),
          ${count("retrying")}, ${count("waiting")}, ${count("dead")}
        FROM subscriptions AS s ORDER BY s.name`,
      args: [],
    }], "read");
    return rows?.rows.map((row) => ({
      name: row[0] as string,
      on: JSON.parse(row[1] as string),
      createdAt: row[2] as string,
      behind: row[3] as number,
      retrying: row[4] as number,
      waiting: row[5] as number,
      dead: row[6] as number,
    })) ?? [];
  }

  /**
   * Reads what a subscription could not deliver yet, by order of the log.
   *
   * @param name The subscription.
   * @throws {LedgerError} When the database fails.
   */
  async letters(name: string): Promise<Letter[]> {
    const [rows] = await this.#driver.batch([{
      sql: `SELECT ${letterColumns} FROM letters AS l
        WHERE l.subscription = ? ORDER BY l.seq`,
      args: [name],
    }], "read");
    return rows?.rows.map(letterOf) ?? [];
  }

  /**
   * Reads what a subscription has given up on, by order of the log.
   *
   * @param name The subscription.
   * @throws {LedgerError} When the database fails.
   */
  async deadLetters(name: string): Promise<Letter[]> {
    return (await this.letters(name)).filter(({ state }) => state === "dead");
  }

  /**
   * Has dead letters delivered again, with as many attempts as at first.
   *
   * @param name The subscription.
   * @param key Only this transition. @default all
   * @returns How many.
   * @throws {LedgerError} When the database fails.
   */
  retry(name: string, key?: string): Promise<number> {
    return this.#settle(
      name,
      key,
      "UPDATE letters SET state = 'retrying', attempts = 0, due_at = ''",
    );
  }

  /**
   * Gives dead letters up for good, so that later transitions of their
   * entities are delivered.
   *
   * @param name The subscription.
   * @param key Only this transition. @default all
   * @returns How many.
   * @throws {LedgerError} When the database fails.
   */
  drop(name: string, key?: string): Promise<number> {
    return this.#settle(name, key, "DELETE FROM letters");
  }

  /**
   * Lists states of orders and users that no subscription was told of: what a
   * refold made of old events, and, when asked for, what an import brought.
   *
   * @param query Which ones.
   * @throws {LedgerError} When the database fails.
   */
  async unfired(query: UnfiredQuery = {}): Promise<Unfired[]> {
    const missing = query.imported
      ? "coalesce(t.live, 0) = 0"
      : "t.seq IS NULL";
    const select = (entity: Entity) => ({
      sql: `SELECT e.${entity}_id, e.trust, e.status FROM ${entity}s AS e
        LEFT JOIN transitions AS t ON t.entity = '${entity}'
          AND t.entity_id = e.${entity}_id AND t.trust = e.trust
          AND t.status = e.status
        WHERE e.generation = ${liveGeneration} AND ${missing}
        ORDER BY e.${entity}_id LIMIT ?`,
      args: [pageSize(query.limit)],
    });
    const [orders, users] = await this.#driver.batch(
      [select("order"), select("user")],
      "read",
    );
    const named = (entity: Entity, row: readonly unknown[]): Unfired => {
      const one = {
        entity,
        id: row[0] as string,
        trust: row[1] as string,
        status: row[2] as string,
      };
      return { key: transitionKey(one), ...one };
    };
    return [
      ...orders?.rows.map((row) => named("order", row)) ?? [],
      ...users?.rows.map((row) => named("user", row)) ?? [],
    ];
  }

  /**
   * Logs states that no subscription was told of as news, so that each
   * subscription that takes them is told.
   *
   * @param keys From {@linkcode Subscriptions.unfired}; a key whose order or
   * user is in another state by now is passed over.
   * @returns How many were logged.
   * @throws {LedgerError} When the database fails.
   */
  async fire(keys: readonly string[]): Promise<number> {
    const recordedAt = new Date(this.#now()).toISOString();
    const wanted = JSON.stringify(keys.flatMap(readings));
    const results = await this.#driver.batch(
      (["order", "user"] as const).map((entity) => ({
        sql: `INSERT OR REPLACE INTO transitions
            (entity, entity_id, trust, status, position, recorded_at, live)
          SELECT '${entity}', e.${entity}_id, e.trust, e.status,
            p.position, ?1, 1
          FROM json_each(?2) AS w
          JOIN projections AS p ON p.name = 'live'
          JOIN ${entity}s AS e ON e.generation = p.generation
            AND e.${entity}_id = w.value ->> 1
          WHERE w.value ->> 0 = '${entity}' AND e.trust = w.value ->> 2
            AND e.status = w.value ->> 3
            AND NOT EXISTS (SELECT 1 FROM transitions AS t
              WHERE t.entity = '${entity}' AND t.entity_id = e.${entity}_id
                AND t.trust = e.trust AND t.status = e.status AND t.live = 1)`,
        args: [recordedAt, wanted],
      })),
      "write",
    );
    return results.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  }

  async #settle(
    name: string,
    key: string | undefined,
    action: string,
  ): Promise<number> {
    const [result] = await this.#driver.batch([{
      sql: `${action} WHERE subscription = ?1 AND state = 'dead' AND (?2 IS NULL
        OR entity || ':' || entity_id || ':' || trust || '.' || status = ?2)`,
      args: [name, key ?? null],
    }], "write");
    return result?.rowsAffected ?? 0;
  }
}

/** Ids and statuses may hold anything, so a key may be read in several ways. */
function readings(key: string): string[][] {
  const entity = /^(order|user):/.exec(key)?.[1];
  if (entity === undefined) return [];
  const rest = key.slice(entity.length + 1);
  return [...rest.matchAll(/:(claimed|confirmed)\./g)].map((match) => [
    entity,
    rest.slice(0, match.index),
    match[1] ?? "",
    rest.slice(match.index + match[0].length),
  ]);
}
