import { defined } from "../../core/guards.ts";
import { type Freshness, readFreshness } from "../../sync/mod.ts";
import type { Ledger, UserQuery, UserView } from "../../ledger/mod.ts";
import { type UserJson, userJson } from "../views/user_view.ts";
import type { Page, PageParams } from "./page.ts";
import { type UserFilters, userQuery } from "./user_filters.ts";

/**
 * One page of `users list --json`, newest first unless sorted otherwise.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function usersPage(
  ledger: Ledger,
  params: UserFilters & PageParams & Pick<UserQuery, "sort">,
): Promise<Page<UserJson>> {
  const { cursor, limit, sort } = params;
  const { users, next } = await ledger.users.page(
    defined({ ...userQuery(params), after: cursor, limit, sort }),
  );
  return { items: users.map(userJson), next };
}

/** A user, and how fresh it is. */
export interface UserDetailJson extends UserJson {
  /** How fresh it is. */
  readonly freshness: Freshness;
  /**
   * Orders of the user that wait because another order holds their purchase,
   * the newest first; at most twenty.
   */
  readonly paidTwice: readonly string[];
}

/** Orders of one user that are named as paid twice, at most. */
const MOST_PAID_TWICE = 20;

/** One user as `users show --json` prints it. */
export async function userDetail(
  ledger: Ledger,
  user: UserView,
  nowMs: number,
): Promise<UserDetailJson> {
  const { userId } = user;
  const freshness = await readFreshness(ledger.driver, "user", userId, nowMs);
  const { orders } = await ledger.orders.page({
    userId,
    attention: "paid_twice",
    limit: MOST_PAID_TWICE,
  });
  const paidTwice = orders.map(({ orderId }) => orderId);
  return { ...userJson(user), freshness, paidTwice };
}
