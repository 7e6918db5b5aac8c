import type { SandboxEngine } from "../service/sandbox_engine.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import { earlierForm } from "../faults/earlier_form.ts";
import { cursorAfter, trueCursor } from "./endless_cursor.ts";
import { oddRow } from "../faults/odd_rows.ts";
import {
  countShortPage,
  driftPages,
  pageRows,
  statedTotal,
} from "./page_faults.ts";
import { refuseIds } from "./refused_ids.ts";
import { answer } from "./answer.ts";
import { hasKey, UNAUTHORIZED } from "./_api_key.ts";
import { orderJson } from "./_order_json.ts";
import { readOrdersQuery } from "./_read_query.ts";

/** GET /api/external/orders */
export function ordersRoute(
  engine: SandboxEngine,
  request: Request,
): Response {
  if (!hasKey(engine, request)) return answer(401, { message: UNAUTHORIZED });
  const query = readOrdersQuery(new URL(request.url).searchParams);
  if ("wrong" in query) {
    return answer(400, { message: `invalid request: ${query.wrong}` });
  }
  const refused = refuseIds(engine, query.searchBy) ??
    refuseIds(engine, query.userIds);
  if (refused !== null) return refused;
  const { limit } = query;
  const cursorId = trueCursor(query.cursorId);
  if (!engine.orders.isCursor(cursorId)) {
    return answer(400, { message: "invalid request: cursor_id is unknown" });
  }
  const most = pageRows(engine, limit);
  const page = engine.orders.page({ ...query, cursorId }, most);
  countShortPage(engine, { rows: page.orders.length, most, limit });
  const response = answer(200, {
    success: true,
    data: page.orders.map((order) => rowOf(engine, order)),
    ...(engine.orderForm === "current" && {
      next_cursor_id: cursorAfter(engine, query.cursorId, page.nextCursorId),
    }),
    ...statedTotal(engine, page.total),
  });
  driftPages(engine, page.orders);
  return response;
}

function rowOf(
  engine: SandboxEngine,
  order: SandboxOrder,
): Readonly<Record<string, unknown>> {
  const row = orderJson(order);
  return oddRow(
    engine,
    "order",
    engine.orderForm === "current" ? row : earlierForm(row),
  );
}
