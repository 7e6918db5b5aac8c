import { defined } from "../../core/guards.ts";
import { type Freshness, readFreshness } from "../../sync/mod.ts";
import type {
  Ledger,
  LedgerTypes,
  UserQuery,
  UserView,
} from "../../ledger/mod.ts";
import {
  endParam,
  textParam,
  timeParam,
  wordParam,
} from "../../core/settings/params.ts";
import { type UserJson, userJson } from "../views/user_view.ts";
import {
  type FilterValues,
  justBefore,
  listFilter,
  type Page,
  type PageParams,
  queryOf,
} from "./orders.ts";

/** What chooses users. A day in `to` is in it whole. */
export const USER_FILTERS = {
  status: listFilter(
    textParam(
      "Only users of this status: banned, unknown, or what the service says " +
        "of the verification, for example success",
    ),
    "<status>",
    (status): UserQuery => ({
      // The service may use other words than are known.
      status: status as LedgerTypes.UserStatus["status"],
    }),
  ),
  trust: listFilter(
    wordParam("Only users of this trust", ["claimed", "confirmed"]),
    "<trust>",
    (trust): UserQuery => ({ trust }),
  ),
  from: listFilter(
    timeParam("Created at this time or later"),
    "<time>",
    (from): UserQuery => ({ createdAfter: justBefore(from) }),
  ),
  to: listFilter(
    endParam("Created before this time"),
    "<time>",
    (to): UserQuery => ({ createdUpTo: justBefore(to) }),
  ),
};

/** The values of filters; those that were left out are absent. */
export type UserFilters = FilterValues<typeof USER_FILTERS>;

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
  const query = queryOf<UserQuery>(USER_FILTERS, params);
  const { users, next } = await ledger.users.page(
    defined({ ...query, after: cursor, limit, sort }),
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
