/**
 * One start for a whole program: it takes the service's webhooks, polls the
 * service for what they leave out, stores all of it in a ledger, calls your
 * handlers, and reports what is wrong.
 *
 * {@linkcode startOnramp} reads `RAMPKIT_*`; each is also an option. It runs in
 * Deno, Node 22 or later and Bun.
 *
 * @example Sell something, and release it once
 * ```ts
 * import { startOnramp } from "@rampkit/onramp/start";
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox(); // stands in for the service
 * const shipped: (string | null)[] = [];
 * await using onramp = await startOnramp({
 *   databaseUrl: ":memory:", // RAMPKIT_DATABASE_URL, or file:rampkit.db
 *   apiKey: sandbox.apiKey, // RAMPKIT_API_KEY
 *   webhookSecrets: "the-secret-in-the-path-of-webhooks",
 *   fetch: (input, init) => sandbox.fetch(new Request(input, init)),
 *   on: {
 *     "order.release.yes": (_, { reference, release }) => {
 *       if (release === "yes") shipped.push(reference);
 *     },
 *   },
 * });
 * const sale = await onramp.sell({
 *   reference: "basket-17",
 *   currency: "USD",
 *   amount: "49.90",
 *   asset: "ETH",
 *   network: "sepolia",
 * });
 * assert.match(sale.clickId, /^[0-9a-f-]{36}$/);
 * // Deno.serve(onramp.webhooks)
 * ```
 *
 * @module
 */
export { startOnramp } from "./start/start_onramp.ts";
export type {
  ChainSettings,
  ChainsFile,
  NodeSettings,
  PageSessions,
  StartOptions,
  StartSettings,
  StopSignal,
  TokenSettings,
  WitnessRule,
} from "./start/onramp.ts";
export type { Onramp, OnrampStatus } from "./start/onramp.ts";
export type { ListenOptions } from "./start/onramp.ts";
export type {
  Handler,
  HandlerContext,
  HandlerOptions,
  Handlers,
  Pattern,
} from "./start/handlers.ts";
export type { OnProblem, Problem } from "./alarms/alarm_message.ts";
export type { ExpectedSale, Sale, SaleInput, SaleTerms } from "./start/sale.ts";
