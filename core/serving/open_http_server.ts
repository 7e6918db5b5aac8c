import { sleep } from "../waiting/waiting.ts";
import type { HttpServer, HttpServerOptions } from "./http_server.ts";

/** Opens an HTTP server: `Deno.serve` in Deno, `node:http` elsewhere. */
export async function openHttpServer(
  options: HttpServerOptions,
): Promise<HttpServer> {
  if ("Deno" in globalThis) return openDenoServer(options);
  const { openNodeServer } = await import("./_node_server.ts");
  return await openNodeServer(options);
}

/** Requests under way are waited for so long when a server stops, ms. */
const STOP_WITHIN_MS = 5000;
/** Pause before listening is tried again, ms. */
const AGAIN_AFTER_MS = 20;

/**
 * Opens `Deno.serve`, and again where it ended: with no descriptor left it
 * cannot accept, and does not go on by itself. That closes what is idle.
 */
function openDenoServer(
  { port, hostname, handler, onDropped = () => {} }: HttpServerOptions,
): HttpServer {
  const ending = new Set<Promise<void>>();
  let isStopping = false;
  const end = (server: Deno.HttpServer): Promise<void> => {
    const ended = server.shutdown().catch(() => {})
      .finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  };
  const serve = (at: number): Deno.HttpServer<Deno.NetAddr> => {
    const opened = Deno.serve(
      { port: at, hostname, onListen: () => {} },
      handler,
    );
    opened.finished.catch(() => {
      if (isStopping) return;
      onDropped();
      void end(opened);
      void serveAgain();
    });
    return opened;
  };
  let server = serve(port);
  const { port: listensOn } = server.addr;
  const serveAgain = async () => {
    while (!isStopping) {
      try {
        server = serve(listensOn);
        return;
      } catch {
        await sleep(AGAIN_AFTER_MS);
      }
    }
  };
  const shutdown = async () => {
    isStopping = true;
    void end(server);
    const over = new AbortController();
    // Who does not read an answer must not keep the process from stopping.
    const late = sleep(STOP_WITHIN_MS, over.signal).catch(() => {});
    await Promise.race([Promise.all(ending), late]);
    over.abort();
  };
  return { port: listensOn, shutdown, [Symbol.asyncDispose]: shutdown };
}
