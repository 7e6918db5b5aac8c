import { RequestHandler } from "./_request_handler.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";
import type { WebhookEndpointStats } from "./endpoint_stats.ts";

/** A webhook endpoint: call it with each request. */
export interface WebhookEndpoint {
  /**
   * Answers a request. Never throws, and never rejects.
   *
   * @param request Any request.
   * @param info What the server knows of the connection.
   * @returns The answer.
   */
  (request: Request, info?: ConnectionInfo): Promise<Response>;
  /** Counts and gauges, for health checks. */
  stats(): WebhookEndpointStats;
  /**
   * Waits until every request is answered and every append settled; then stops
   * the work in the background. Stop the server first.
   *
   * @param options `timeoutMs` bounds the waiting; the default is 10 seconds.
   */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Makes the endpoint that the service delivers webhooks to.
 *
 * It answers 204 once the exact bytes of the body are stored: in a spool, from
 * which a mover takes them to the ledger, or in the ledger itself. The body is
 * not interpreted before, so an unknown webhook is stored as well. The other answers: 404 without a valid secret or
 * from an address that may not deliver, 405 for another method than POST, 413
 * over the limit, 408 when the body does not arrive, and 503 with `Retry-After`
 * when the delivery could not be stored.
 *
 * The handler takes a `Request` and returns a `Response`, so it mounts in
 * `Deno.serve`, Hono, Next, SvelteKit and Deno Deploy alike, and in Express
 * through a listener for `node:http`. The last segment of the path is the
 * secret, wherever that is; what comes before it is up to the server.
 *
 * @param options What the endpoint is made of.
 * @returns The endpoint.
 * @throws {RangeError} When there is no secret, one is empty or too long, or a
 * limit is not a positive number.
 * @throws {TypeError} When `path` does not begin and end with a slash, or an
 * entry of `allowlist` is not an address.
 *
 * @example Deliver a webhook
 * ```ts
 * import { type Delivery, webhookEndpoint } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const stored: Delivery[] = [];
 * const endpoint = webhookEndpoint({
 *   append: (delivery) => {
 *     stored.push(delivery);
 *     return Promise.resolve();
 *   },
 *   secrets: ["a-long-unguessable-secret"],
 * });
 * const response = await endpoint(
 *   new Request("https://shop.example/webhooks/a-long-unguessable-secret", {
 *     method: "POST",
 *     body: `{"type":"login","click_id":"c-1"}`,
 *   }),
 * );
 * assert.equal(response.status, 204);
 * assert.equal(stored.length, 1);
 * await endpoint.drain();
 * ```
 */
export function webhookEndpoint(
  options: WebhookEndpointOptions,
): WebhookEndpoint {
  const handler = new RequestHandler(options);
  return Object.assign(
    (request: Request, info?: ConnectionInfo): Promise<Response> =>
      handler.answer(request, info),
    {
      stats: (): WebhookEndpointStats => handler.stats(),
      drain: (drain: { readonly timeoutMs?: number } = {}): Promise<void> =>
        handler.drain(drain.timeoutMs ?? 10_000),
    },
  );
}
