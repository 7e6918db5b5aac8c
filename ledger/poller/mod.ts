/**
 * Reading the Data API into the ledger, and holding the two against each
 * other: a webhook can be lost, late or forged, so what the service says when
 * it is asked is what counts.
 *
 * - {@linkcode createPoller}: four sweeps under one rate, one poller a ledger.
 * - {@linkcode watchdog}: whether webhook delivery is off.
 * - {@linkcode recover}: reads everything again after an outage.
 * - {@linkcode reconcile}: compares service and ledger, and changes nothing.
 *
 * @example Poll once, then compare
 * ```ts
 * import { createPoller, openLedger, reconcile } from "@rampkit/onramp/ledger";
 * import { OnrampClient } from "@rampkit/onramp/client";
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox();
 * sandbox.createOrder();
 * const client = new OnrampClient({
 *   environment: "sandbox",
 *   apiKey: sandbox.apiKey,
 *   fetch: (input, init) => sandbox.fetch(new Request(input, init)),
 *   requestsPerSecond: 1000,
 * });
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 *
 * const report = await createPoller({ ledger, client }).once();
 * assert.equal(report.ran, true);
 * const { disagreements } = await reconcile({ ledger, client });
 * assert.equal(disagreements, 0);
 * ```
 *
 * @module
 */
export { DEFAULT_PERIODS, DEFAULT_RULES } from "./_settings.ts";
export * from "./age_backoff.ts";
export * from "./lease.ts";
export * from "./order_move.ts";
export * from "./poll_client.ts";
export * from "./poll_error.ts";
export * from "./poll_ledger.ts";
export * from "./poll_status.ts";
export * from "./poller.ts";
export * from "./poller_options.ts";
export * from "./rate_budget.ts";
export * from "./reconcile.ts";
export * from "./reconcile_order.ts";
export * from "./recover.ts";
export * from "./staleness.ts";
export * from "./watchdog.ts";
export * from "./watchdog_rule.ts";
export type { SweepRead } from "./sweep.ts";
export type { NewProgress } from "./sweep_new.ts";
