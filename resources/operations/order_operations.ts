import { defined } from "../../core/guards.ts";
import { HAND_OUTCOMES } from "../../ledger/for_resources.ts";
import type { RecordedRelease } from "../../ledger/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";
import {
  flagParam,
  needed,
  textParam,
  timeParam,
  wordParam,
} from "../../core/settings/params.ts";
import { orderAsOf, orderExplanation } from "../queries/explanation.ts";
import { checkStatus, ORDER_FILTERS } from "../queries/order_filters.ts";
import { refuseEmptyWindow } from "../queries/list_filters.ts";
import { orderDetail, type OrderDetailJson } from "../queries/order.ts";
import {
  ordersPage,
  ordersTotals,
  soonOrdersTotals,
} from "../queries/orders.ts";
import { PAGE, SORT } from "../queries/page.ts";
import { explanationLines } from "../views/explanation_view.ts";
import { foundByLines } from "../views/found_by.ts";
import { totalsLines } from "../views/order_totals.ts";
import { orderLines, orderTable } from "../views/order_view.ts";
import { nextCommand, operands } from "../views/shell_word.ts";
import { describeHandRelease } from "../wording/release.ts";
import { findOrder, ORDER_REF } from "./find_order.ts";
import { type Operation, operation } from "./operation.ts";
import { refusedRecord } from "./refused.ts";

/** `orders list`. */
export const ORDERS: Operation = operation({
  command: "orders list",
  path: "/v1/orders",
  scope: "read",
  operationId: "listOrders",
  summary: "List orders, newest first unless sorted otherwise",
  description:
    "All filters that are given must hold. Orders that appear or move " +
    "meanwhile may be read or missed, but none is read twice.",
  examples: ["--status pending --limit 20"],
  params: { ...PAGE, ...ORDER_FILTERS, sort: SORT },
  result: {
    schema: "Order",
    description: "One page",
    many: { rows: "orders", first: "first" },
  },
  folds: true,
  checks: (query, { named }) => refuseEmptyWindow(query, named),
  run: async ({ ledger, nowMs, named }, query) => {
    await checkStatus(ledger, named("status"), query.status);
    const { items, next } = await ordersPage(ledger, query, nowMs);
    return { items, next };
  },
  says: ({ items }, _, { columns }) =>
    items.length === 0 ? "No orders match" : [orderTable(items, columns)],
  below: async ({ ledger, nowMs }, query) => {
    const totals = await soonOrdersTotals(ledger, query, nowMs);
    return totals === null
      ? [
        "Very many orders match, so they are not added up here: " +
        "`orders totals` does it",
      ]
      : totalsLines(totals);
  },
});

/** `orders totals`. */
export const ORDER_TOTALS: Operation = operation({
  command: "orders totals",
  path: "/v1/orders/totals",
  scope: "read",
  operationId: "sumOrders",
  summary: "Count orders and add up their amounts, by currency and trust",
  description:
    "The filters are those of the list; sums are exact. A million orders take " +
    "seconds, and their list leaves the totals out.",
  examples: ["--status success --day 2026-11-20"],
  params: ORDER_FILTERS,
  result: { schema: "OrderTotals", description: "The totals of all of them" },
  folds: true,
  checks: (filters, { named }) => refuseEmptyWindow(filters, named),
  run: async ({ ledger, nowMs, named }, filters) => {
    await checkStatus(ledger, named("status"), filters.status);
    return await ordersTotals(ledger, filters, nowMs);
  },
  says: (totals) => totalsLines(totals),
});

/** `orders show`. */
export const ORDER: Operation = operation({
  command: "orders show",
  path: "/v1/orders/{ref}",
  scope: "read",
  operationId: "getOrder",
  summary: "Show one order: its state and its anomalies",
  examples: ["01KA00000000000000000000 --json"],
  params: { ref: ORDER_REF },
  result: {
    schema: "OrderDetail",
    description: "The order, how fresh it is, and how it was found",
  },
  folds: true,
  run: async (context, { ref }) => {
    const { ledger, nowMs } = context;
    return await orderDetail(ledger, await findOrder(context, ref), nowMs);
  },
  says: (order, { ref }, { columns, nowMs, flags }) => {
    const id = operands(order.orderId);
    const next = (title: string, command: string) => [
      ...["", title, nextCommand(flags, command, id)],
    ];
    const what = order.facts.match === "matched"
      ? "--delivered"
      : "--delivered --for REFERENCE";
    return [
      ...orderLines(order, columns, nowMs, order),
      ...foundByLines(ref, order.foundBy, columns),
      ...(awaitsRelease(order)
        ? next(
          "Once you have delivered it, record that; or --refunded:",
          `release ${what} --by NAME --why TEXT`,
        )
        : []),
      ...(order.anomalies.length > 0
        ? next("Event by event:", "orders explain")
        : []),
    ];
  },
});

/** Whether a person is to decide about what the order pays for. */
function awaitsRelease(
  { attention, byHand, facts, release }: OrderDetailJson,
): boolean {
  return byHand === null && facts.shown === "success" &&
    (attention.length > 0 || release === "unchecked");
}

const AS_OF = timeParam("What was known then, instead of now");

/** `orders explain`. */
export const EXPLANATION: Operation = operation({
  command: "orders explain",
  path: "/v1/orders/{ref}/explanation",
  scope: "read",
  operationId: "explainOrder",
  summary: "Explain the state of an order: what each event changed, and why",
  description:
    "Of an order that very many webhooks name, the first 2,000 are " +
    "read, and as many events listed as fit into 4 MB; leftOut counts the rest.",
  examples: ["01KA00000000000000000000"],
  params: {
    ref: ORDER_REF,
    asOf: { ...AS_OF, only: "request" as const },
    verbose: {
      ...flagParam("Every field that changed, and which event each comes from"),
      only: "command" as const,
    },
  },
  result: {
    schema: "Explanation",
    description: "The order, and what each event did to it",
  },
  folds: true,
  run: async (context, { ref, asOf }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    const { ledger, nowMs } = context;
    return await orderExplanation(ledger, orderId, nowMs, asOf) ??
      nothingKnown(orderId, asOf ?? "any time");
  },
  says: (explanation, { verbose = false }, { columns, nowMs, flags }) => [
    ...explanationLines(explanation, { columns, nowMs, verbose }),
    ...(verbose ? [] : [
      "",
      "Every field that changed:",
      nextCommand(
        flags,
        "orders explain --verbose",
        operands(explanation.state.orderId),
      ),
    ]),
  ],
});

/** `orders explain --as-of`. */
export const ORDER_AS_OF: Operation = operation({
  command: "orders explain",
  path: "/v1/orders/{ref}/as-of",
  scope: "read",
  operationId: "getOrderAsOf",
  summary: "Show one order as the ledger knew it at a time",
  examples: ["01KA00000000000000000000 --as-of 2026-11-20T09:00:00Z"],
  params: {
    ref: ORDER_REF,
    time: { ...needed(AS_OF), flag: "as-of", operand: "<time>" },
  },
  result: { schema: "Order", description: "The order as it was known then" },
  folds: true,
  run: async (context, { ref, time }) => {
    const { order: { orderId } } = await findOrder(context, ref);
    return await orderAsOf(context.ledger, orderId, time) ??
      nothingKnown(orderId, time);
  },
  says: (order, { time }, { columns }) =>
    orderLines(order, columns, Date.parse(time)),
});

function nothingKnown(orderId: string, time: string): never {
  throw new CommandError(
    `Nothing was known of order ${orderId} at ${time}`,
    "not_found",
  );
}

/** What a person did about an order, once. */
export interface OrderReleaseJson extends RecordedRelease {
  /** The order. */
  readonly orderId: string;
}

/** `release`. */
export const RELEASE_BY_HAND: Operation = operation({
  command: "release",
  path: "/v1/orders/{ref}/released",
  scope: "operate",
  operationId: "releaseOrder",
  summary:
    "Record that a person delivered, refunded or wrote off an order, or take " +
    "that back",
  description:
    "The order's release is `settled` then: no handler and no target gets its " +
    "`order.release.yes` while that stands. What speaks against it is said, and " +
    "has to be confirmed.",
  examples: [
    "01KA00000000000000000000 --delivered --for basket-17 --by Ada " +
    "--why 'paid at the counter'",
  ],
  params: {
    ref: ORDER_REF,
    outcome: {
      ...needed(wordParam("What the person did", HAND_OUTCOMES)),
      words: {
        delivered: "the goods were handed out",
        refunded: "the money was returned",
        written_off: "nothing more is done",
        taken_back: "what was recorded before does not hold",
      },
    },
    for: {
      ...textParam(
        "Reference of the purchase that was delivered; needed where the " +
          "order was read and matches no expectation",
      ),
      operand: "<reference>",
    },
    newReference: flagParam("The reference was never recorded, and is right"),
    confirmed: flagParam("What speaks against it was seen, and it is right"),
    by: {
      ...needed(textParam("Who did it")),
      operand: "<name>",
      isCaller: true as const,
    },
    why: needed(textParam("Why; name no customer: erasures keep it")),
  },
  inBody: true,
  result: { schema: "OrderRelease", description: "It is recorded" },
  folds: true,
  conflicts: true,
  run: async (
    context,
    { ref, outcome, by, why, for: reference, newReference, confirmed },
  ): Promise<OrderReleaseJson> => {
    const { order: { orderId } } = await findOrder(context, ref);
    const release = {
      ...{ outcome, by, why },
      ...defined({ for: reference, newReference, confirmed }),
    };
    const recorded = await context.ledger.release(orderId, release)
      .catch(refusedRecord(context.named("for")));
    return { orderId, ...recorded };
  },
  logged: ({ orderId, outcome }) => ({ orderId, outcome }),
  says: ({ orderId, ...recorded }) =>
    `Order ${orderId}: ${describeHandRelease(recorded)}`,
});
