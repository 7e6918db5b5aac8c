import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpServer, HttpServerOptions } from "./http_server.ts";

/** How slow a client may be before it is cut off, ms. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
};

/** Opens `node:http`, which cuts off connections that send nothing. */
export async function openNodeServer(
  { port, hostname, handler }: HttpServerOptions,
): Promise<HttpServer> {
  const listener = getRequestListener(
    (request, env) => {
      const { socket } = (env as HttpBindings).incoming;
      const remoteAddr = { hostname: socket.remoteAddress ?? "" };
      return handler(request, { remoteAddr });
    },
    // `Request` and `Response` stay what they are for everybody else.
    { overrideGlobalObjects: false },
  );
  const server = createServer(LIMITS, listener);
  server.listen(port, hostname);
  await once(server, "listening");
  const shutdown = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    await closed;
  };
  return {
    port: (server.address() as AddressInfo).port,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}
