import { answer, hasKey, type Parts, UNAUTHORIZED } from "./_app.ts";
import { nextSteps } from "./order_life.ts";
import { orderJson } from "./_order_json.ts";
import { readOrdersAsk } from "./_query.ts";
import type { SandboxOrder } from "./sandbox_order.ts";

/** GET /api/external/orders */
export function ordersRoute(parts: Parts, request: Request): Response {
  if (!hasKey(parts, request)) return answer(401, { message: UNAUTHORIZED });
  const ask = readOrdersAsk(new URL(request.url).searchParams);
  if ("wrong" in ask) {
    return answer(400, { message: `invalid request: ${ask.wrong}` });
  }
  if (!parts.orders.isCursor(ask.cursorId)) {
    return answer(400, { message: "invalid request: cursor_id is unknown" });
  }
  const { dice, counters, sandbox } = parts;
  let most = 20;
  if (dice.strikes("pageShort") && ask.limit > 1) {
    most = dice.stream("pageShort.size").int(1, ask.limit - 1);
  }
  const page = parts.orders.page(ask, most);
  if (page.orders.length === most && most < ask.limit) counters.pagesShort++;
  const body = {
    success: true,
    data: page.orders.map((order) => orderJson(order, sandbox.orderForm)),
    ...(sandbox.orderForm === "current" && {
      next_cursor_id: page.nextCursorId,
    }),
    ...total(parts, page.total),
  };
  const response = answer(200, body);
  driftPages(parts, page.orders);
  return response;
}

/** The total, right, wrong or missing. */
export function total(parts: Parts, count: number): { total?: number } {
  const { dice, counters } = parts;
  const missing = dice.strikes("totalMissing");
  const wrong = dice.strikes("totalWrong");
  if (missing) {
    counters.totalsMissing++;
    return {};
  }
  if (!wrong) return { total: count };
  counters.totalsWrong++;
  const off = dice.stream("totalWrong.off").pick([-7, -1, 1, 13]);
  return { total: Math.max(0, count + off) };
}

/** Rows that appear or change right after a page was cut. */
function driftPages(parts: Parts, page: readonly SandboxOrder[]): void {
  const { dice, counters, sandbox } = parts;
  if (dice.strikes("pageInsert")) {
    counters.pageInserts++;
    const back = dice.stream("pageInsert.ms").int(0, 5_000);
    sandbox.createOrder({}, sandbox.now() - back);
  }
  if (dice.strikes("pageChange") && page.length > 0) {
    counters.pageChanges++;
    const { orderId } = dice.stream("pageChange.pick").pick(page);
    const order = sandbox.order(orderId);
    const [step] = order ? nextSteps(order) : [];
    if (step && order?.status !== "success") sandbox.advance(orderId, step);
    else sandbox.amendOrder(orderId, {});
  }
}
