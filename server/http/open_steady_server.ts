import { openHttpServer } from "../../core/serving/open_http_server.ts";
import type { SteadyServerOptions } from "./steady_server.ts";

/**
 * Opens the server of `serve`. In Deno it is {@linkcode SteadyServer};
 * elsewhere `node:http`, which has limits of its own for idle connections.
 *
 * @returns What stops it.
 */
export async function openSteadyServer(
  options: SteadyServerOptions,
): Promise<{ shutdown(): Promise<void> }> {
  if ("Deno" in globalThis) {
    const { SteadyServer } = await import("./steady_server.ts");
    return new SteadyServer(options);
  }
  const { hostname, onListen } = options;
  const server = await openHttpServer(options);
  onListen({ hostname, port: server.port });
  return server;
}
