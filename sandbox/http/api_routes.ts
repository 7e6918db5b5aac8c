import { Hono } from "hono";
import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { withApiFaults } from "./api_faults.ts";
import { cardRoute } from "./_card_route.ts";
import { ordersRoute } from "./orders_route.ts";
import { sessionRoute } from "./_session_route.ts";
import { userCreateRoute, usersRoute } from "./users_route.ts";

/** The service's five endpoints, with the faults of the API around them. */
export function apiRoutes(engine: SandboxEngine): Hono {
  const app = new Hono();
  const route = (
    run: (
      engine: SandboxEngine,
      request: Request,
    ) => Response | Promise<Response>,
  ) => {
    const handle = withApiFaults(engine, (request) => run(engine, request));
    return (context: { req: { raw: Request } }) => handle(context.req.raw);
  };
  app.get("/external/orders", route(ordersRoute));
  app.get("/external/users", route(usersRoute));
  app.post("/external/hpp/create-session", route(sessionRoute));
  app.post("/external/users/create", route(userCreateRoute));
  app.post("/v1/partner/register", route(cardRoute));
  return app;
}
