import type { HttpServer, HttpServerOptions } from "./http_server.ts";

/**
 * Opens an HTTP server: `Deno.serve` in Deno, `node:http` elsewhere.
 *
 * @throws {Error} With `code` `EADDRINUSE`, `EACCES` and others of the system.
 */
export async function openHttpServer(
  options: HttpServerOptions,
): Promise<HttpServer> {
  if ("Deno" in globalThis) return openDenoServer(options);
  const { openNodeServer } = await import("./_node_server.ts");
  return await openNodeServer(options);
}

/** Opens `Deno.serve`. */
function openDenoServer(
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
