import { Sandbox } from "./sandbox.ts";
import type { SandboxOptions } from "./service/sandbox_options.ts";

/**
 * Sets up the service in a box.
 *
 * @param options Seed, key, clock, webhook address, faults.
 * @returns The sandbox; mount its `fetch`, close it in the end.
 * @throws {TypeError} If a fault is not known.
 * @throws {RangeError} If the rate of a fault is out of range.
 *
 * @example Press the Test button
 * ```ts
 * import { createSandbox } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * await using sandbox = createSandbox({
 *   webhookUrl: "http://partner/webhooks/secret",
 *   fetch: () => Promise.resolve(new Response(null, { status: 204 })),
 * });
 * const delivery = await sandbox.pressTest();
 * assert.equal(delivery.state, "received");
 * assert.equal(delivery.attempts[0]?.status, 204);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options);
}
