import type { Fact } from "../events/fact.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_state.ts";

/** Folds facts of a user from nothing. */
export function foldUser(userId: string, facts: Iterable<Fact>): UserFold {
  let fold = initialUserFold(userId);
  for (const fact of facts) fold = evolveUser(fold, fact);
  return fold;
}
