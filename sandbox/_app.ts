import { Hono } from "hono";
import type { SandboxCounters } from "./counters.ts";
import type { Dice } from "./_dice.ts";
import type { Maker } from "./_maker.ts";
import type { OrderBook } from "./_order_book.ts";
import type { Random } from "./_random.ts";
import type { Sandbox } from "./sandbox.ts";
import type { SessionBook } from "./_sessions.ts";
import type { UserBook } from "./_user_book.ts";
import { ordersRoute } from "./_orders_route.ts";
import { usersRoute } from "./_users_route.ts";
import { sessionRoute } from "./_session_route.ts";
import { userCreateRoute } from "./_user_create_route.ts";
import { cardRoute } from "./_card_route.ts";
import { apiFaults } from "./_api_faults.ts";
import { widgetRoutes } from "./_widget_route.ts";
import { controlRoutes } from "./_control_route.ts";

/** What the routes work with. */
export interface Parts {
  readonly sandbox: Sandbox;
  readonly orders: OrderBook;
  readonly users: UserBook;
  readonly sessions: SessionBook;
  readonly maker: Maker;
  readonly dice: Dice;
  readonly counters: SandboxCounters;
  readonly random: Random;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
}

/** Answers a request. */
export type App = (request: Request) => Promise<Response>;

/** Largest request body read, in bytes. */
const MAX_BODY_BYTES = 64 * 1024;

/** Puts all routes together. */
export function createApp(parts: Parts): App {
  const app = new Hono();
  const api = (run: (request: Request) => Response | Promise<Response>) => {
    const guarded = apiFaults(parts, run);
    return (context: { req: { raw: Request } }) => guarded(context.req.raw);
  };
  app.get(
    "/api/external/orders",
    api((request) => ordersRoute(parts, request)),
  );
  app.get("/api/external/users", api((request) => usersRoute(parts, request)));
  app.post(
    "/api/external/hpp/create-session",
    api((request) => sessionRoute(parts, request)),
  );
  app.post(
    "/api/external/users/create",
    api((request) => userCreateRoute(parts, request)),
  );
  app.post(
    "/api/v1/partner/register",
    api((request) => cardRoute(parts, request)),
  );
  const widget = widgetRoutes(parts);
  const { partnerId } = parts.sandbox;
  app.get(`/${partnerId}/widget`, (context) => widget.page(context.req.raw));
  app.post(
    `/${partnerId}/widget/steps`,
    (context) => widget.step(context.req.raw),
  );
  app.route("/control", controlRoutes(parts));
  app.get("/", (context) => context.redirect("/control"));
  app.notFound(() => answer(404, { message: "not found" }));
  return async (request) => {
    const declared = Number(request.headers.get("content-length") ?? 0);
    const response = declared > MAX_BODY_BYTES
      ? answer(413, { message: "request body is too large" })
      : await app.fetch(request);
    const headers = new Headers(response.headers);
    headers.set("date", new Date(parts.sandbox.now()).toUTCString());
    headers.set("x-content-type-options", "nosniff");
    return new Response(response.body, {
      status: response.status,
      statusText: response.statusText,
      headers,
    });
  };
}

/** A JSON answer. */
export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}

/** Whether the request carries the partner's key. */
export function hasKey(parts: Parts, request: Request): boolean {
  return request.headers.get("x-api-key") === parts.sandbox.apiKey;
}

/** What the service says to a wrong key, card registration apart. */
export const UNAUTHORIZED = "unauthorized: API key is missing or invalid";
