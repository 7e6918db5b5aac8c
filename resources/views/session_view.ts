/** A widget session: valid for 30 seconds, and for one use. */
export interface SessionJson {
  /** Identifier to open the widget with. */
  readonly sessionId: string;
  /** Request identifier; null when the service left it out. */
  readonly requestId: string | null;
  /** Click id to open the widget with. */
  readonly clickId: string;
  /** How long the session may be opened, in milliseconds. */
  readonly validForMs: number;
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
}

/** An expectation that was recorded. */
export interface ExpectationJson {
  /** The id that was minted for it. */
  readonly id: string;
}
