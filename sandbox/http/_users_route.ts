import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { oddRow } from "../faults/odd_rows.ts";
import { countShortPage, pageRows, statedTotal } from "./page_faults.ts";
import { refuseIds } from "./refused_ids.ts";
import { answer } from "./answer.ts";
import { hasKey, UNAUTHORIZED } from "./_api_key.ts";
import { readUsersQuery } from "./_read_query.ts";
import { userJson } from "./_user_json.ts";

/** GET /api/external/users */
export function usersRoute(engine: SandboxEngine, request: Request): Response {
  if (!hasKey(engine, request)) return answer(401, { message: UNAUTHORIZED });
  const query = readUsersQuery(new URL(request.url).searchParams);
  if ("wrong" in query) {
    return answer(400, { message: `invalid request: ${query.wrong}` });
  }
  const refused = refuseIds(engine, query.userIds);
  if (refused !== null) return refused;
  const { limit } = query;
  const most = pageRows(engine, limit);
  const page = engine.users.page(query, most);
  countShortPage(engine, { rows: page.users.length, most, limit });
  return answer(200, {
    success: true,
    data: page.users.map((user) => oddRow(engine, "user", userJson(user))),
    ...statedTotal(engine, page.total),
  });
}
