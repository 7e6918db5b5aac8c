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
 */
export function routes(fact: Fact): Routes {
  return fact;
}
