import { errorCode } from "../../core/guards.ts";
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
export async function serveOnramp(
  { webhooks, sessions }: {
    readonly webhooks: HttpServerOptions["handler"];
    readonly sessions: HttpServerOptions["handler"];
  },
  hasSessions: boolean,
  { port = 8787, hostname = "127.0.0.1" }: ListenOptions,
): Promise<HttpServer> {
  const options: HttpServerOptions = {
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
  };
  try {
    return await openHttpServer(options);
  } catch (error) {
    const code = String(errorCode(error));
    const why = WHY[code]?.(port, hostname);
    if (why === undefined) throw error;
    throw Object.assign(new Error(`Cannot listen: ${why}`), { code });
  }
}

const WHY: Readonly<
  Record<string, (port: number, hostname: string) => string>
> = {
  EADDRINUSE: (port) =>
    `port ${port} is taken; pass another to listen({ port }), or 0 for a free one`,
  EACCES: (port) =>
    `port ${port} may not be used by this user; pass one above 1023 to listen({ port })`,
  EADDRNOTAVAIL: (_, hostname) =>
    `the address ${hostname} is not one of this machine's; pass one that is ` +
    'to listen({ hostname }), "127.0.0.1" for this machine alone',
};
