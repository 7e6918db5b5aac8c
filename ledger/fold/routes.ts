import type { Fact } from "./fact.ts";

/** Whom a fact concerns: at most one of each. */
export interface Routes {
  /** Order whose fold takes the fact. */
  readonly orderId: string | null;
  /** User whose fold takes the fact. */
  readonly userId: string | null;
  /**
   * Widget session. With an `orderId`, it links the order to the session; of a
   * `session_created` fact, every linked order's fold takes the fact.
   */
  readonly sessionId: string | null;
  /** Click id; links like `sessionId`. */
  readonly clickId: string | null;
}

/**
 * Tells which orders, users, sessions and click ids a fact concerns.
 *
 * Test events, order events with an empty id and order readings for their user
 * are routed nowhere: they fold into nothing.
 *
 * @param fact Any fact.
 * @returns The ids; the fact itself carries them.
 *
 * @example Whom an erased webhook concerns
 * ```ts
 * import { readFact, routes } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * const { orderId, userId } = routes(readFact({
 *   position: 1,
 *   eventId: "01HX",
 *   kind: "webhook",
 *   type: "order_complete",
 *   orderId: "01ORDER",
 *   userId: null,
 *   clickId: null,
 *   occurredAt: null,
 *   recordedAt: "2026-11-20T09:00:00.000Z",
 *   readAt: null,
 *   body: null,
 *   digest: null,
 *   salt: null,
 * }));
 * assert.deepEqual([orderId, userId], ["01ORDER", null]);
 * ```
 */
export function routes(fact: Fact): Routes {
  return fact;
}
