/** A widget session as it was asked for. Amounts are decimal strings. */
export interface WidgetSession {
  readonly sessionId: string;
  readonly requestId: string;
  readonly createdMs: number;
  readonly flowType: string;
  readonly userId: string | null;
  readonly commodity: string | null;
  readonly network: string | null;
  readonly commodityAmount: string | null;
  readonly currency: string | null;
  readonly currencyAmount: string | null;
  readonly walletAddress: string | null;
}

/** How long a session can be opened, in milliseconds. */
export const SESSION_VALID_MS = 30_000;

/** Why a session cannot be opened. */
export type SessionRefusal = "unknown" | "expired" | "used";

/** Sessions: valid for thirty seconds, good for one opening. */
export class SessionBook {
  readonly #sessions = new Map<string, WidgetSession>();
  readonly #used = new Set<string>();

  /** Remembers a new session. */
  add(session: WidgetSession): void {
    this.#sessions.set(session.sessionId, session);
  }

  /** Opens a session, once and in time, or says why not. */
  open(
    sessionId: string,
    nowMs: number,
  ): { session: WidgetSession } | { refused: SessionRefusal } {
    const session = this.#sessions.get(sessionId);
    if (!session) return { refused: "unknown" };
    if (this.#used.has(sessionId)) return { refused: "used" };
    if (nowMs - session.createdMs > SESSION_VALID_MS) {
      return { refused: "expired" };
    }
    this.#used.add(sessionId);
    return { session };
  }
}
