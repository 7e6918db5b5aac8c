import { Hono } from "hono";
import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { cardRoute } from "./_card_route.ts";
import { sessionRoute } from "./_session_route.ts";
import { answer } from "./answer.ts";
import { ordersRoute } from "./orders_route.ts";
import { userCreateRoute, usersRoute } from "./users_route.ts";

/** The service's five endpoints, with the faults of the API around them. */
export function apiRoutes(engine: SandboxEngine): Hono {
  const app = new Hono();
  const route = (
    run: (
      engine: SandboxEngine,
      request: Request,
    ) => Response | Promise<Response>,
  ) => {
    const handle = withApiFaults(engine, (request) => run(engine, request));
    return (context: { req: { raw: Request } }) => handle(context.req.raw);
  };
  app.get("/external/orders", route(ordersRoute));
  app.get("/external/users", route(usersRoute));
  app.post("/external/hpp/create-session", route(sessionRoute));
  app.post("/external/users/create", route(userCreateRoute));
  app.post("/v1/partner/register", route(cardRoute));
  return app;
}

/** How long a request that is never answered stays open, in milliseconds. */
const HANGS_FOR_MS = 120_000;

/** Pieces of a slow body, and the pause before each. */
const SLOW_PIECES = 4;
const SLOW_PAUSE_MS = 1_000;

type Handler = (request: Request) => Response | Promise<Response>;

/** Adds the API's faults and its rate limit to a handler. */
function withApiFaults(engine: SandboxEngine, handle: Handler): Handler {
  const { injector, counters, clock, closing } = engine;
  const recent: number[] = [];
  return async (request) => {
    counters.apiRequests++;
    if (
      isOverLimit(engine, recent) || injector.strikes("apiTooManyRequests")
    ) {
      counters.apiTooManyRequests++;
      const seconds = injector.stream("apiTooManyRequests.s").int(1, 3);
      return answer(429, { message: "too many requests" }, {
        "retry-after": String(seconds),
      });
    }
    if (injector.strikes("apiTimeout")) {
      counters.apiTimeouts++;
      const stop = AbortSignal.any([request.signal, closing]);
      await clock.sleep(HANGS_FOR_MS, stop).catch(() => {});
      return answer(504, { message: "gateway timeout" });
    }
    if (injector.strikes("apiServerError")) {
      counters.apiServerErrors++;
      return await serverError(engine, () => handle(request));
    }
    const response = await handle(request);
    if (!injector.strikes("apiSlowBody")) return response;
    counters.apiSlowBodies++;
    return await slowly(response, (ms) => clock.sleep(ms, closing));
  };
}

async function serverError(
  { injector }: SandboxEngine,
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  const random = injector.stream("apiServerError.pick");
  const status = random.pick([500, 502, 503]);
  // Half of the errors come after the request was carried out.
  if (random.chance(0.5)) await handle();
  return status === 502
    ? new Response("<html><body>502 Bad Gateway</body></html>", {
      status,
      headers: { "content-type": "text/html" },
    })
    : answer(status, { message: "internal server error" });
}

function isOverLimit(
  { partner, clock }: SandboxEngine,
  recent: number[],
): boolean {
  const { requestsPerSecond } = partner;
  if (requestsPerSecond === null) return false;
  const nowMs = clock.now();
  while (recent[0] !== undefined && recent[0] <= nowMs - 1000) recent.shift();
  if (recent.length >= requestsPerSecond) return true;
  recent.push(nowMs);
  return false;
}

/** The same answer, its body in pieces with pauses between. */
async function slowly(
  response: Response,
  sleep: (ms: number) => Promise<void>,
): Promise<Response> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const size = Math.ceil(bytes.length / SLOW_PIECES);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await sleep(SLOW_PAUSE_MS).catch(() => {});
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, {
    status: response.status,
    headers: response.headers,
  });
}
