import type {
  HttpServer,
  HttpServerOptions,
} from "../../core/serving/http_server.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";

/** Where to listen. */
export interface ListenOptions {
  /**
   * Port; 0 takes a free one.
   * @default {8787}
   */
  readonly port?: number;
  /**
   * Address; `0.0.0.0` for every one of the machine.
   * @default {"127.0.0.1"}
   */
  readonly hostname?: string;
}

/** Serves webhooks and sessions at their usual addresses, and nothing else. */
export function serveOnramp(
  { webhooks, sessions }: {
    readonly webhooks: HttpServerOptions["handler"];
    readonly sessions: HttpServerOptions["handler"];
  },
  hasSessions: boolean,
  { port = 8787, hostname = "127.0.0.1" }: ListenOptions,
): Promise<HttpServer> {
  return openHttpServer({
    port,
    hostname,
    handler: async (request, info) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/webhooks/")) {
        return await webhooks(request, info);
      }
      if (hasSessions && pathname === "/sessions") {
        return await sessions(request, info);
      }
      return new Response("Not found\n", { status: 404 });
    },
  });
}
