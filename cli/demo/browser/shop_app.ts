import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import {
  NONCE,
  secureHeaders,
  type SecureHeadersVariables,
} from "hono/secure-headers";
import { streamSSE } from "hono/streaming";
import type { ConnectionInfo } from "../../../webhooks/mod.ts";
import type { Board } from "./board.ts";
import { browserModule, SDK_SCRIPT } from "./browser_files.ts";
import type { DemoActions } from "./demo_actions.ts";
import { shopPage } from "./shop_page.ts";
import type { Drafts } from "./shop.ts";

/** What the shop's server is made of. */
export interface ShopAppParts {
  /** Checked widget options. */
  readonly drafts: Drafts;
  /** Origin of the widget, the one place the page may frame. */
  readonly widgetOrigin: string;
  /** Address of the console over the shop's ledger. */
  readonly consoleUrl: string;
  /** The webhook endpoint. */
  readonly webhooks: (
    request: Request,
    info?: ConnectionInfo,
  ) => Promise<Response>;
  /** Answers `POST /session`. */
  readonly sessions: (request: Request) => Promise<Response>;
  /** What the page shows. */
  readonly board: Board;
  /** What its other buttons do. */
  readonly actions: DemoActions;
}

/** Longest body of the page's own requests, in bytes. */
const MAX_BODY_BYTES = 1024;

/** The page, what it loads, what it asks for, and the webhook endpoint. */
export function shopApp(
  parts: ShopAppParts,
): (request: Request, info?: ConnectionInfo) => Response | Promise<Response> {
  const { board, actions } = parts;
  const app = new Hono<{ Variables: SecureHeadersVariables }>();
  app.use(secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: [NONCE],
      styleSrc: [NONCE],
      imgSrc: ["data:"],
      connectSrc: ["'self'"],
      frameSrc: [parts.widgetOrigin],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: "DENY",
    // The page is served over plain HTTP on loopback.
    strictTransportSecurity: false,
  }));
  app.get("/", (c) =>
    c.html(
      shopPage({
        drafts: parts.drafts,
        controlUrl: `${parts.widgetOrigin}/control`,
        consoleUrl: parts.consoleUrl,
        nonce: c.get("secureHeadersNonce") ?? "",
      }),
      200,
      { "cache-control": "no-store" },
    ));
  app.get("/wert.js", (c) => c.body(SDK_SCRIPT, 200, script));
  app.get("/live", (c) =>
    streamSSE(c, async (stream) => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      for await (const view of board.follow(left.signal)) {
        await stream.writeSSE({ event: "board", data: JSON.stringify(view) });
      }
    }));
  app.post("/session", (c) => parts.sessions(c.req.raw));
  app.use("/play/*", bodyLimit({ maxSize: MAX_BODY_BYTES }));
  app.use("/play/*", async (c, next) => {
    // Another page open in the same browser is not to press these buttons.
    if (c.req.header("origin") === new URL(c.req.url).origin) return next();
    return await Promise.resolve(c.json({ error: "wrong_origin" }, 403));
  });
  app.post("/play/forge", async (c) => {
    const body: unknown = await c.req.json().catch(() => null);
    const orderId = String(Reflect.get(Object(body), "orderId"));
    return await actions.forge(orderId)
      ? c.json({ ok: true })
      : c.json({ error: "no_such_order" }, 404);
  });
  app.post(
    "/play/unpaid",
    (c) => c.json({ orderId: actions.startUnpaid() }),
  );
  app.post("/play/leap", async (c) => {
    await actions.leap();
    return c.json({ ok: true });
  });
  app.get("*", async (c) => {
    const text = await browserModule(c.req.path);
    return text === null ? c.notFound() : c.body(text, 200, script);
  });
  return (request, info) =>
    new URL(request.url).pathname.startsWith("/webhooks/")
      ? parts.webhooks(request, info)
      : app.fetch(request);
}

const script = {
  "content-type": "text/javascript; charset=utf-8",
  "cache-control": "no-cache",
};
