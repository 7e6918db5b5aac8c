import { userDetail, usersPage } from "../../resources/queries/users.ts";
import { PAGE } from "./params.ts";
import { ApiProblem } from "./problem.ts";
import { named, pageOf, type Route, route } from "./route.ts";

/** Users: listed, and one. */
export const USER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/users",
    operationId: "listUsers",
    summary: "List users, newest first",
    scope: "read",
    params: PAGE,
    answer: { description: "One page", schema: pageOf(named("User")) },
    handle: ({ ledger }, { query }) => usersPage(ledger, query),
  }),
  route({
    method: "GET",
    path: "/v1/users/{id}",
    operationId: "getUser",
    summary: "One user: verification, bans, limits, cards",
    scope: "read",
    placeholders: { id: "User id" },
    params: {},
    answer: {
      description: "What `users show --json` prints",
      schema: named("UserDetail"),
    },
    problems: ["not_found"],
    handle: async ({ ledger, now }, { path: { id = "" } }) => {
      const user = await ledger.users.get(id);
      if (user !== null) return await userDetail(ledger, user, now());
      throw new ApiProblem("not_found", `The ledger has no user "${id}"`);
    },
  }),
];
