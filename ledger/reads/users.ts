/** Users as readers see them: one, and lists. */
import type { Trust } from "../machines/transition.ts";
import { activityOf, type UserActivity } from "../orders/order_fold.ts";
import { type Driver, select, type SqlValue } from "../store/database.ts";
import { unpackUser } from "../projection/rows.ts";
import {
  ALL,
  byCreation,
  given,
  type List,
  type PageQuery,
  readAll,
  readPage,
} from "./pages.ts";
import { type UserState, userState } from "../users/user_state.ts";

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

/** What {@linkcode userOfRow} reads, of `users AS r`. */
export const USER_COLUMNS = "r.id, r.fold";

/** A user as readers see them, of a row of {@linkcode USER_COLUMNS}. */
export function userOfRow([id, document]: readonly SqlValue[]): UserView {
  const fold = unpackUser(String(id), String(document));
  return { ...userState(fold), activity: activityOf(fold.activity) };
}

/**
 * Users as folded so far; behind by {@linkcode Ledger.lag} events. Every method throws
 * a {@linkcode LedgerError} where the database fails.
 */
export class Users {
  readonly #driver: Driver;

  /** Reads users of a database; {@linkcode openLedger} makes one. */
  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /**
   * Reads one user.
   *
   * @returns Null when no event names them.
   */
  async get(userId: string): Promise<UserView | null> {
    const [row] = await select(
      this.#driver,
      `SELECT ${USER_COLUMNS} FROM users AS r WHERE r.id = ?`,
      userId,
    );
    return row === undefined ? null : userOfRow(row);
  }

  /**
   * Reads one page of users.
   *
   * @throws {RangeError} When the query is invalid.
   */
  async page(query: UserQuery = {}): Promise<UserPage> {
    const list = listOf(query);
    const { items: users, next } = await readPage(this.#driver, list, query);
    return { users, next };
  }

  /**
   * Walks over all users of a query, page by page.
   *
   * @param query Which users; `limit` is the size of a page.
   * @throws {RangeError} When the query is invalid.
   */
  list(query: UserQuery = {}): AsyncGenerator<UserView> {
    const list = listOf(query);
    return readAll(query, (page) => readPage(this.#driver, list, page));
  }
}

function listOf({ status, trust, ...query }: UserQuery): List<UserView> {
  return {
    ...byCreation("users", query),
    ranges: [ALL],
    where: given({ "status = ?": status, "trust = ?": trust }),
    columns: USER_COLUMNS,
    viewsOf: (rows) => rows.map(userOfRow),
  };
}
