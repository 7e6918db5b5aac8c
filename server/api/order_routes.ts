import {
  orderAsOf,
  orderExplanation,
} from "../../resources/queries/explanation.ts";
import {
  checkStatus,
  ORDER_FILTERS,
} from "../../resources/queries/order_filters.ts";
import {
  orderDetail,
  type ResolvedOrder,
  resolveOrder,
} from "../../resources/queries/order.ts";
import { ordersPage } from "../../resources/queries/orders.ts";
import { timeParam } from "../../settings/params.ts";
import { PAGE } from "./params.ts";
import { ApiProblem } from "./problem.ts";
import { type ApiParts, named, pageOf, type Route, route } from "./route.ts";

/** What `{ref}` stands for. */
export const REFERENCE = {
  ref: "Order id, external order id, or a click or session id that leads to " +
    "one order",
} as const;

const AS_OF = timeParam("What was known then, instead of now");

/** Orders: listed, one, and what became of it. */
export const ORDER_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/orders",
    operationId: "listOrders",
    summary: "List orders, newest first",
    description:
      "The filters of `orders list`; all that are given must hold. " +
      "Follow `next` for the next page: orders that appear or move meanwhile " +
      "may be read or missed, but none is read twice.",
    scope: "read",
    params: {
      ...PAGE,
      ...ORDER_FILTERS,
    },
    answer: { description: "One page", schema: pageOf(named("Order")) },
    handle: async ({ ledger, now }, { query }) => {
      await checkStatus(ledger, "status", query.status);
      return await ordersPage(ledger, query, now());
    },
  }),
  route({
    method: "GET",
    path: "/v1/orders/{ref}",
    operationId: "getOrder",
    summary: "One order: its state and its anomalies",
    scope: "read",
    placeholders: REFERENCE,
    params: {},
    answer: {
      description: "What `orders show --json` prints",
      schema: named("OrderDetail"),
    },
    problems: ["not_found", "several"],
    handle: async (parts, { path }) =>
      await orderDetail(
        parts.ledger,
        await orderOf(parts, path.ref),
        parts.now(),
      ),
  }),
  route({
    method: "GET",
    path: "/v1/orders/{ref}/as-of",
    operationId: "getOrderAsOf",
    summary: "One order as the ledger knew it at a time",
    scope: "read",
    placeholders: REFERENCE,
    params: { time: { ...AS_OF, required: true } },
    answer: {
      description: "What `orders explain --as-of --json` prints",
      schema: named("Order"),
    },
    problems: ["not_found", "several"],
    handle: async (parts, { path, query }) => {
      const { order: { orderId } } = await orderOf(parts, path.ref);
      const { time = "" } = query;
      return await orderAsOf(parts.ledger, orderId, time) ??
        nothingKnown(orderId, time);
    },
  }),
  route({
    method: "GET",
    path: "/v1/orders/{ref}/explanation",
    operationId: "explainOrder",
    summary: "What became of an order, and what each event did to it",
    scope: "read",
    placeholders: REFERENCE,
    params: { asOf: AS_OF },
    answer: {
      description: "What `orders explain --json` prints",
      schema: named("Explanation"),
    },
    problems: ["not_found", "several"],
    handle: async (parts, { path, query: { asOf } }) => {
      const { order: { orderId } } = await orderOf(parts, path.ref);
      return await orderExplanation(
        parts.ledger,
        orderId,
        parts.now(),
        asOf,
      ) ??
        nothingKnown(orderId, asOf ?? "any time");
    },
  }),
];

/**
 * The order that a reference names.
 *
 * @throws {ApiProblem} When there is none, or several.
 */
export async function orderOf(
  { ledger }: ApiParts,
  reference: string = "",
): Promise<ResolvedOrder & { readonly found: "one" }> {
  const resolved = await resolveOrder(ledger, reference);
  if (resolved.found === "one") return resolved;
  if (resolved.found === "none") {
    throw new ApiProblem(
      "not_found",
      `The ledger has no order, external, click or session id, and no ` +
        `reference of yours, "${reference}"`,
    );
  }
  const { orderIds, foundBy } = resolved;
  throw new ApiProblem("several", {
    detail: foundBy.trust === "confirmed"
      ? `Several orders share "${reference}": name one of orderIds`
      : `Only webhooks name "${reference}", with several orders, and the ` +
        `service has shown none of them under it: name one of orderIds`,
    members: { orderIds, foundBy },
  });
}

function nothingKnown(orderId: string, time: string): never {
  throw new ApiProblem(
    "not_found",
    `Nothing was known of order ${orderId} at ${time}`,
  );
}
