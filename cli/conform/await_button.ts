import { isRecord } from "../../core/guards.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { listening } from "../../server/http/listening.ts";
import type { TestRequest } from "../../sync/for_conform.ts";

/** How long the Test button is waited for, in milliseconds. */
const TEST_WITHIN_MS = 10 * 60_000;

/** A body larger than this is none of the service's, in bytes. */
const MOST_BYTES = 64 * 1024;

/**
 * Listens in place of `serve` until the Test button's event comes. Any other
 * event is answered 503, so that the service sends it again.
 *
 * @param secrets The secrets in the webhook address.
 * @returns The request; null when none came in time.
 * @throws {CommandError} When the port cannot be opened.
 * @throws {unknown} The signal's reason, when it is aborted.
 */
export async function waitForTest(
  { port, secrets, signal, withinMs = TEST_WITHIN_MS, onListening }: {
    readonly port: number;
    readonly secrets: readonly string[];
    readonly signal: AbortSignal;
    readonly withinMs?: number;
    readonly onListening: (port: number) => void;
  },
): Promise<TestRequest | null> {
  const { promise, resolve, reject } = Promise.withResolvers<
    TestRequest | null
  >();
  const paths = secrets.map((secret) => `/webhooks/${secret}`);
  await using server = await listening(
    "the endpoint for the Test button",
    port,
    () =>
      openHttpServer({
        port,
        hostname: "127.0.0.1",
        handler: async (request) => {
          const { pathname } = new URL(request.url);
          if (request.method !== "POST" || !paths.includes(pathname)) {
            return new Response(null, { status: 404 });
          }
          const test = await readTest(request);
          if (test === null) return new Response(null, { status: 503 });
          resolve(test);
          return new Response(null, { status: 204 });
        },
      }),
    "--wait-for-test",
  );
  const timer = setTimeout(() => resolve(null), withinMs);
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    onListening(server.port);
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

async function readTest(request: Request): Promise<TestRequest | null> {
  if (Number(request.headers.get("content-length") ?? 0) > MOST_BYTES) {
    return null;
  }
  const text = await request.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isRecord(body) || body.type !== "test") return null;
  return {
    headers: [...request.headers.keys()],
    contentType: request.headers.get("content-type"),
    text,
  };
}
