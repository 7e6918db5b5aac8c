import { CommandError } from "../../settings/errors.ts";
import { needed, textParam } from "../../settings/params.ts";
import { refuseEmptyWindow } from "../queries/list_filters.ts";
import { PAGE, SORT } from "../queries/page.ts";
import { USER_FILTERS, userDetail, usersPage } from "../queries/users.ts";
import { userLines, userTable } from "../views/user_view.ts";
import { pollAdvice } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";

/** `users list`. */
export const USERS: Operation = operation({
  command: "users list",
  path: "/v1/users",
  scope: "read",
  operationId: "listUsers",
  summary: "List users, newest first unless sorted otherwise",
  examples: ["--status success --limit 20"],
  params: { ...PAGE, ...USER_FILTERS, sort: SORT },
  result: {
    schema: "User",
    description: "One page",
    many: { rows: "users", first: "first" },
  },
  folds: true,
  checks: (query, { named }) => refuseEmptyWindow(query, named),
  run: ({ ledger }, query) => usersPage(ledger, query),
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No users" : [userTable(items, columns)],
});

/** `users show`. */
export const USER: Operation = operation({
  command: "users show",
  path: "/v1/users/{id}",
  scope: "read",
  operationId: "getUser",
  summary: "Show one user: verification, bans, limits, cards",
  examples: ["01KA00000000000000000000 --json"],
  params: { id: { ...needed(textParam("User id")), place: "<id>" } },
  result: {
    schema: "UserDetail",
    description: "The user, and how fresh it is",
  },
  folds: true,
  run: async (context, { id }) => {
    const { ledger, nowMs } = context;
    const user = await ledger.users.get(id);
    if (user !== null) return await userDetail(ledger, user, nowMs);
    const erased = await ledger.erasures.find(id);
    throw new CommandError(
      erased === null
        ? `No such user: the ledger has no user "${id}"; ` +
          await pollAdvice(context)
        : `No such user: "${id}" was erased at ${erased.erasedAt}; see ` +
          "rampkit users erased",
      "not_found",
    );
  },
  says: (user, _, { columns, nowMs }) => userLines(user, columns, nowMs, user),
});
