import { DELIVERY } from "../../resources/operations/delivery_operations.ts";
import { deliveriesPage } from "../../resources/queries/deliveries.ts";
import { flagParam } from "../../settings/params.ts";
import { PAGE } from "./params.ts";
import { named, operationRoute, pageOf, type Route, route } from "./route.ts";

/** Webhook deliveries: listed, and one with its body. */
export const DELIVERY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/deliveries",
    operationId: "listDeliveries",
    summary: "List webhook deliveries, newest first",
    scope: "read",
    params: {
      ...PAGE,
      quarantined: flagParam(
        "Only bodies that are not a JSON object with a type",
      ),
    },
    answer: { description: "One page", schema: pageOf(named("Delivery")) },
    handle: ({ ledger }, { query }) => deliveriesPage(ledger, query),
  }),
  operationRoute(DELIVERY),
];
