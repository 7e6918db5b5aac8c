import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { dottedAsset, type SandboxOrder } from "../engine/sandbox_order.ts";
import { earlierForm, oddRow } from "../faults/odd_rows.ts";
import {
  countShortPage,
  driftPages,
  pageRows,
  refuseIds,
  statedTotal,
} from "./page_faults.ts";
import { answer, hasKey, UNAUTHORIZED } from "./answer.ts";
import { readOrdersQuery } from "./_read_query.ts";
import { orderTime } from "../seeded/seeded_values.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";

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

/** An order as the orders endpoint writes it. */
export function orderJson(order: SandboxOrder): Record<string, unknown> {
  const { fees } = order;
  return {
    order_id: order.orderId,
    click_id: order.clickId,
    currency: order.currency.toLowerCase(),
    currency_amount: new ExactNumber(order.currencyAmount),
    crypto: dottedAsset(order),
    crypto_amount: new ExactNumber(order.cryptoAmount),
    user_id: order.userId,
    status: order.status,
    card_id: order.cardId,
    created_at: orderTime(order.createdAtMs),
    changed_at: orderTime(order.changedAtMs),
    ...(fees && {
      partner_fee: new ExactNumber(fees.partnerFee),
      partner_fee_percent: new ExactNumber(fees.partnerFeePercent),
      service_fee: new ExactNumber(fees.serviceFee),
      service_fee_percent: new ExactNumber(fees.serviceFeePercent),
    }),
    external_order_id: order.externalOrderId,
    tx_id: order.txId,
    ...(order.processedThrough !== null && {
      processed_through: order.processedThrough,
    }),
    card_brand: order.cardBrand,
    fail_reason: order.failReason,
    payment_type: order.paymentType,
    additional_data: order.additionalData,
    address: order.address,
    ...(order.scInputData !== null && { sc_input_data: order.scInputData }),
  };
}

const PREFIX = "again-";

/** The cursor that an endless cursor stands for; any other is returned as is. */
function trueCursor(cursorId: string): string {
  return cursorId.startsWith(PREFIX)
    ? cursorId.slice(cursorId.indexOf("-", PREFIX.length) + 1)
    : cursorId;
}

/**
 * The cursor after a page: the true one, or a new one that leads to the same
 * page again.
 *
 * @param requested The cursor in the request.
 * @param next The true cursor after that page; empty at the end.
 */
export function cursorAfter(
  { injector, counters }: SandboxEngine,
  requested: string,
  next: string,
): string {
  const isEndless = requested.startsWith(PREFIX);
  const strikes = next !== "" && injector.strikes("endlessCursor");
  // A walk that met an endless cursor repeats until the fault is switched off.
  if (!strikes && !(isEndless && injector.faults.endlessCursor > 0)) {
    return next;
  }
  counters.endlessCursors++;
  const round = isEndless ? parseInt(requested.slice(PREFIX.length)) + 1 : 1;
  return `${PREFIX}${round}-${trueCursor(requested)}`;
}
