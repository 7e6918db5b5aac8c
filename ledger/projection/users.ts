import type { UserActivity } from "../fold/activity_fold.ts";
import type { Trust } from "../fold/order_state.ts";
import type { UserState } from "../fold/user_state.ts";
import type { Driver } from "../store/driver.ts";
import {
  type Condition,
  liveGeneration,
  type PageQuery,
  selectPage,
} from "./select_page.ts";

/** A user as readers see them. */
export type UserView = UserState & {
  /** What was received about the user, and when; grows with each repeat. */
  readonly activity: UserActivity;
};

/** Which users to read. */
export interface UserQuery extends PageQuery {
  /** Only this status. */
  readonly status?: UserState["status"];
  /** Only this trust. */
  readonly trust?: Trust;
}

/** One page of users. */
export interface UserPage {
  /** The users. */
  readonly users: readonly UserView[];
  /** Value of `after` for the next page; null on the last one. */
  readonly next: string | null;
}

/** Users as folded so far; behind by {@linkcode Ledger.lag} events. */
export class Users {
  readonly #driver: Driver;

  /**
   * Reads users of a database; {@linkcode openLedger} makes one.
   *
   * @param driver A database that has been migrated.
   */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Reads one user.
   *
   * @param userId User identifier.
   * @returns Null when no event names them.
   * @throws {LedgerError} When the database fails.
   */
  async get(userId: string): Promise<UserView | null> {
    const [result] = await this.#driver.batch([{
      sql: `SELECT state, activity FROM users
        WHERE generation = ${liveGeneration} AND user_id = ?`,
      args: [userId],
    }], "read");
    const row = result?.rows[0];
    return row === undefined ? null : view(row[0] as string, row[1] as string);
  }

  /**
   * Reads one page of users.
   *
   * @param query Which users; all conditions must hold.
   * @throws {RangeError} When a limit or a time is wrong.
   * @throws {TypeError} When `after` is no cursor.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: UserQuery = {}): Promise<UserPage> {
    const { rows, next } = await selectPage(this.#driver, {
      table: "users",
      where: userConditions(query),
      query,
    });
    return {
      users: rows.map(({ state, activity }) => view(state, activity)),
      next,
    };
  }

  /**
   * Walks over all users of a query, page by page.
   *
   * @param query Which users; `limit` is the size of a page.
   * @throws {LedgerError} When the database fails.
   */
  async *list(query: UserQuery = {}): AsyncGenerator<UserView> {
    let after = query.after;
    for (;;) {
      const page = await this.page({
        ...query,
        ...(after === undefined ? {} : { after }),
      });
      yield* page.users;
      if (page.next === null) return;
      after = page.next;
    }
  }
}

/**
 * The conditions of a query in SQL.
 *
 * @param query The query.
 */
export function userConditions(query: UserQuery): Condition[] {
  const conditions: Condition[] = [];
  if (query.status !== undefined) {
    conditions.push({ sql: "status = ?", args: [query.status] });
  }
  if (query.trust !== undefined) {
    conditions.push({ sql: "trust = ?", args: [query.trust] });
  }
  return conditions;
}

function view(state: string, activity: string): UserView {
  return { ...JSON.parse(state), activity: JSON.parse(activity) };
}
