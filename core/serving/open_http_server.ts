import type { HttpServer, HttpServerOptions } from "./http_server.ts";

/**
 * Opens an HTTP server: `Deno.serve` in Deno, `node:http` elsewhere.
 *
 * @throws {Error} With `code` `EADDRINUSE`, `EACCES` and others of the system.
 */
export async function openHttpServer(
  options: HttpServerOptions,
): Promise<HttpServer> {
  const { open } = "Deno" in globalThis
    ? await import("./_deno_server.ts")
    : await import("./_node_server.ts");
  return await open(options);
}
