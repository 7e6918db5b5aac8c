import {
  deliveriesPage,
  deliveryDetail,
} from "../../resources/queries/deliveries.ts";
import { flagParam } from "../../settings/params.ts";
import { PAGE } from "./params.ts";
import { ApiProblem } from "./problem.ts";
import { named, pageOf, type Route, route } from "./route.ts";

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
  route({
    method: "GET",
    path: "/v1/deliveries/{id}",
    operationId: "getDelivery",
    summary: "One delivery: its ids, what is unusual about it, its bytes",
    scope: "read",
    placeholders: { id: "Id of the delivery" },
    params: {},
    answer: {
      description: "What `deliveries show --json` prints",
      schema: named("DeliveryDetail"),
    },
    problems: ["not_found"],
    handle: async ({ ledger }, { path: { id = "" } }) => {
      const delivery = await deliveryDetail(ledger, id);
      if (delivery !== null) return delivery;
      throw new ApiProblem("not_found", `The ledger has no delivery "${id}"`);
    },
  }),
];
