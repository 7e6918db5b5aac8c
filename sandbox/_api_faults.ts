import { answer, type Parts } from "./_app.ts";

/** How long a request that is never answered stays open, in milliseconds. */
const HANGS_FOR_MS = 120_000;

/** Pieces and pauses of an answer that trickles. */
const SLOW_PIECES = 4;
const SLOW_PAUSE_MS = 1_000;

type Handler = (request: Request) => Response | Promise<Response>;

/** Lays the API's faults, and its rate limit, around a handler. */
export function apiFaults(parts: Parts, handle: Handler): Handler {
  const { dice, counters, sandbox } = parts;
  const recent: number[] = [];
  return async (request) => {
    counters.apiRequests++;
    if (isOverLimit(parts, recent) || dice.strikes("apiTooManyRequests")) {
      counters.apiTooManyRequests++;
      const seconds = dice.stream("apiTooManyRequests.s").int(1, 3);
      return answer(429, { message: "too many requests" }, {
        "retry-after": String(seconds),
      });
    }
    if (dice.strikes("apiTimeout")) {
      counters.apiTimeouts++;
      await hang(parts, request);
      return answer(504, { message: "gateway timeout" });
    }
    if (dice.strikes("apiServerError")) {
      counters.apiServerErrors++;
      const pick = dice.stream("apiServerError.pick");
      const status = pick.pick([500, 502, 503]);
      // What was asked may have been done before the answer got lost.
      if (pick.chance(0.5)) await handle(request);
      return status === 502
        ? new Response("<html><body>502 Bad Gateway</body></html>", {
          status,
          headers: { "content-type": "text/html" },
        })
        : answer(status, { message: "internal server error" });
    }
    const response = await handle(request);
    if (!dice.strikes("apiSlowBody")) return response;
    counters.apiSlowBodies++;
    return trickle(response, (ms) => sandbox.clock.sleep(ms, parts.closing));
  };
}

function isOverLimit(parts: Parts, recent: number[]): boolean {
  const { requestsPerSecond } = parts.sandbox.partner;
  if (requestsPerSecond === null) return false;
  const nowMs = parts.sandbox.clock.now();
  while (recent[0] !== undefined && recent[0] <= nowMs - 1000) recent.shift();
  if (recent.length >= requestsPerSecond) return true;
  recent.push(nowMs);
  return false;
}

async function hang(parts: Parts, request: Request): Promise<void> {
  const gone = AbortSignal.any([request.signal, parts.closing]);
  await parts.sandbox.clock.sleep(HANGS_FOR_MS, gone).catch(() => {});
}

/** The same answer, its body in pieces with pauses between. */
async function trickle(
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
