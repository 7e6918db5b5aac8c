import { Hono } from "hono";
import { controlRoutes } from "./control/control_routes.ts";
import type { SandboxEngine } from "./service/sandbox_engine.ts";
import { statedDate } from "./http/page_faults.ts";
import { answer } from "./http/answer.ts";
import { apiRoutes } from "./http/api_routes.ts";
import { widgetRoutes } from "./widget/widget_routes.ts";

/** Answers a request. */
export type App = (request: Request) => Promise<Response>;

/** Largest request body read, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** Puts the service's API, the widget and the control page on one address. */
export function createApp(engine: SandboxEngine): App {
  const app = new Hono();
  app.route("/api", apiRoutes(engine));
  app.route(`/${engine.partnerId}/widget`, widgetRoutes(engine));
  app.route("/control", controlRoutes(engine));
  app.get("/", (context) => context.redirect("/control"));
  app.notFound(() => answer(404, { message: "not found" }));
  return async (request) => {
    const declared = Number(request.headers.get("content-length") ?? 0);
    const response = declared > MAX_BODY_BYTES
      ? answer(413, { message: "request body is too large" })
      : await app.fetch(request);
    const headers = new Headers(response.headers);
    headers.set("date", statedDate(engine));
    headers.set("x-content-type-options", "nosniff");
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  };
}
