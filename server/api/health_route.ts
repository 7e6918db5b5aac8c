import { type Route, route } from "./route.ts";

/** Whether the ledger can be read: the one route that needs no token. */
export const HEALTH_ROUTE: Route = route({
  method: "GET",
  path: "/v1/health",
  operationId: "getHealth",
  summary: "Whether the ledger can be read; for load balancers",
  scope: null,
  params: {},
  answer: {
    description: "It can",
    schema: {
      type: "object",
      required: ["ok"],
      properties: { ok: { const: true } },
    },
  },
  handle: async ({ feed }) => {
    await feed.last();
    return { ok: true };
  },
});
