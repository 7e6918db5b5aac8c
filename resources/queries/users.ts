import { defined } from "../../core/defined.ts";
import { type Freshness, readFreshness } from "../../sync/mod.ts";
import type { Ledger, UserView } from "../../ledger/mod.ts";
import { type UserJson, userJson } from "../views/user_view.ts";
import type { Page, PageParams } from "./page.ts";

/**
 * One page of `users list --json`, newest first.
 *
 * @throws {RangeError} When cursor or limit is wrong.
 */
export async function usersPage(
  ledger: Ledger,
  { cursor, limit }: PageParams,
): Promise<Page<UserJson>> {
  const { users, next } = await ledger.users.page(
    defined({ after: cursor, limit }),
  );
  return { items: users.map(userJson), next };
}

/** A user, and how fresh it is. */
export interface UserDetailJson extends UserJson {
  /** How fresh it is. */
  readonly freshness: Freshness;
}

/** One user as `users show --json` prints it. */
export async function userDetail(
  ledger: Ledger,
  user: UserView,
  nowMs: number,
): Promise<UserDetailJson> {
  const { userId } = user;
  const freshness = await readFreshness(ledger.driver, "user", userId, nowMs);
  return { ...userJson(user), freshness };
}
