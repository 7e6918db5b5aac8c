import { EndpointCore } from "./_endpoint_core.ts";
import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";

/** What an endpoint has done and is doing. */
export interface WebhookEndpointStats {
  /** Requests being answered. */
  readonly inFlight: number;
  /** Bytes of bodies held for them. */
  readonly heldBytes: number;
  /** How often each HTTP status was answered, by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Stored bodies that are no JSON object. */
  readonly quarantined: number;
  /** Whether the ledger took what it was last given. */
  readonly appending: boolean;
  /** Deliveries that wait in the spool. */
  readonly spoolDepth: number;
  /** Bytes that wait in the spool. */
  readonly spoolBytes: number;
  /** Notes of unanswered deliveries that wait for the ledger. */
  readonly unansweredNotes: number;
  /** When the latest delivery was kept, UTC ISO 8601; null before the first. */
  readonly lastDeliveryAt: string | null;
}

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
   * Waits until every request is answered, every append settled, and the spool
   * empty or tried a last time; then stops the work in the background.
   * Stop the server first: requests that still come are answered, but what
   * they spool stays there.
   *
   * @param options `timeoutMs` bounds the waiting; the default is 10 seconds.
   */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

/**
 * Makes the endpoint that the service delivers webhooks to.
 *
 * It answers 204 once the exact bytes of the body are where they cannot be
 * lost, whatever they say: in the ledger, or, while that fails or takes long,
 * in the spool. Nothing is interpreted on the way, so a webhook nobody
 * understands is no failure. The other answers: 404 without a valid secret or
 * from an address that may not deliver, 405 for another method than POST, 413
 * over the limit, 408 when the body does not come, and 503 with `Retry-After`
 * when the delivery could not be kept.
 *
 * The handler takes a `Request` and returns a `Response`, so it mounts in
 * `Deno.serve`, Hono, Fresh and Deno Deploy alike.
 *
 * @param options What the endpoint is made of.
 * @returns The endpoint.
 * @throws {RangeError} When there is no secret, one is empty or too long, or a
 * limit is not a positive number.
 * @throws {TypeError} When `path` does not begin and end with a slash, or an
 * entry of `allowlist` is no address.
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
  const endpoint = new EndpointCore(options);
  return Object.assign(
    (request: Request, info?: ConnectionInfo): Promise<Response> =>
      endpoint.answer(request, info),
    {
      stats: (): WebhookEndpointStats => endpoint.stats(),
      drain: (drain: { readonly timeoutMs?: number } = {}): Promise<void> =>
        endpoint.drain(drain.timeoutMs ?? 10_000),
    },
  );
}
