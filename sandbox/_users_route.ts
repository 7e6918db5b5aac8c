import { answer, hasKey, type Parts, UNAUTHORIZED } from "./_app.ts";
import { total } from "./_orders_route.ts";
import { readUsersAsk } from "./_query.ts";
import { userJson } from "./_user_json.ts";

/** GET /api/external/users */
export function usersRoute(parts: Parts, request: Request): Response {
  if (!hasKey(parts, request)) return answer(401, { message: UNAUTHORIZED });
  const ask = readUsersAsk(new URL(request.url).searchParams);
  if ("wrong" in ask) {
    return answer(400, { message: `invalid request: ${ask.wrong}` });
  }
  const { dice, counters } = parts;
  let most = 20;
  if (dice.strikes("pageShort") && ask.limit > 1) {
    most = dice.stream("pageShort.size").int(1, ask.limit - 1);
  }
  const page = parts.users.page(ask, most);
  if (page.users.length === most && most < ask.limit) counters.pagesShort++;
  return answer(200, {
    success: true,
    data: page.users.map(userJson),
    ...total(parts, page.total),
  });
}
