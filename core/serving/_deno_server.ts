import type { HttpServer, HttpServerOptions } from "./http_server.ts";

/** Opens `Deno.serve`. */
export function open(
  { port, hostname, handler }: HttpServerOptions,
): HttpServer {
  const server = Deno.serve({ port, hostname, onListen: () => {} }, handler);
  const shutdown = () => server.shutdown();
  return {
    port: server.addr.port,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}
