import type { UserActivity } from "../orders/activity_fold.ts";
import type { Trust } from "../machines/transition.ts";
import type { UserState } from "../users/user_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import type {
  Condition,
  PageQuery,
  Selection,
} from "../store/tables/lists/selection.ts";
import { StateReader } from "./state_reader.ts";

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
  /** `newest` first or `oldest` first. @default "newest" */
  readonly sort?: "newest" | "oldest";
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
  readonly #states: StateReader<UserView, UserQuery>;

  /**
   * Reads users of a database; {@linkcode openLedger} makes one.
   *
   * @param driver The database of a ledger.
   */
  constructor(driver: Driver) {
    this.#states = new StateReader(driver, "user", userSelection);
  }

  /**
   * Reads one user.
   *
   * @param userId User identifier.
   * @returns Null when no event names them.
   * @throws {LedgerError} When the database fails.
   */
  get(userId: string): Promise<UserView | null> {
    return this.#states.get(userId);
  }

  /**
   * Reads one page of users.
   *
   * @param query Which users; all conditions must hold.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  async page(query: UserQuery = {}): Promise<UserPage> {
    const { views, next } = await this.#states.page(query);
    return { users: views, next };
  }

  /**
   * Walks over all users of a query, page by page.
   *
   * @param query Which users; `limit` is the size of a page.
   * @throws {RangeError} When the query is invalid.
   * @throws {LedgerError} When the database fails.
   */
  list(query: UserQuery = {}): AsyncGenerator<UserView> {
    return this.#states.list(query);
  }
}

/**
 * What a query selects.
 *
 * @param query The query.
 */
export function userSelection(query: UserQuery): Selection {
  const where: Condition[] = [];
  if (query.status !== undefined) {
    where.push({ sql: "status = ?", args: [query.status] });
  }
  if (query.trust !== undefined) {
    where.push({ sql: "trust = ?", args: [query.trust] });
  }
  return { table: "users", where, query };
}
