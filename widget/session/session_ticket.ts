import { sessionValidityMs } from "../../core/rules/session_validity.ts";
import { SessionError } from "./session_error.ts";

// The widget's own page needs time to load and present the session.
const marginMs = 2_000;

/**
 * A session that opens one widget, once, while it is fresh.
 *
 * Its age counts from before the request, so it is renewed a little early
 * rather than late.
 *
 * @example Use it once
 * ```ts
 * import { SessionTicket } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const ticket = new SessionTicket({ sessionId: "s-1", askedAt: 0 });
 * assert.equal(ticket.take(1_000), "s-1");
 * assert.throws(() => ticket.take(1_001), { code: "used" });
 * ```
 */
export class SessionTicket {
  /** Click id that goes with the session; null when there is none. */
  readonly clickId: string | null;
  /** When it was asked for, in milliseconds since 1970. */
  readonly askedAt: number;
  readonly #sessionId: string;
  #isUsed = false;

  /**
   * Makes a ticket.
   *
   * @param session The session, and when it was asked for (milliseconds).
   */
  constructor(
    session: {
      readonly sessionId: string;
      readonly clickId?: string | null;
      readonly askedAt: number;
    },
  ) {
    this.#sessionId = session.sessionId;
    this.clickId = session.clickId ?? null;
    this.askedAt = session.askedAt;
  }

  /**
   * Says whether it can still open a widget.
   *
   * @param now Milliseconds since 1970.
   * @returns `fresh`, `stale` (too old) or `used`.
   */
  state(now: number): "fresh" | "stale" | "used" {
    if (this.#isUsed) return "used";
    const age = now - this.askedAt;
    // After the clock is set back the age is unknown, so ask again.
    const isFresh = age >= 0 && age < sessionValidityMs - marginMs;
    return isFresh ? "fresh" : "stale";
  }

  /**
   * Returns the session id, and marks the ticket as used.
   *
   * @param now Milliseconds since 1970.
   * @returns The session id.
   * @throws {SessionError} `used` or `stale`.
   */
  take(now: number): string {
    const state = this.state(now);
    if (state === "used") {
      throw new SessionError(
        "used",
        "Cannot open the widget: the session has opened one already; ask for " +
          "another",
      );
    }
    if (state === "stale") {
      throw new SessionError(
        "stale",
        "Cannot open the widget: the session is older than its 30 seconds; " +
          "ask for another",
      );
    }
    this.#isUsed = true;
    return this.#sessionId;
  }
}
