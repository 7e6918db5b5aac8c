/** What a session asked for; null is unsaid. */
export interface SessionRequest {
  /** Session identifier. */
  readonly sessionId: string;
  /** Click id that it was recorded under; never empty nor the test click id. */
  readonly clickId: string | null;
  /** When the ledger learnt of it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** `simple` or `simple_full_restrict`. */
  readonly flowType: string;
  /** The partner's own reference. */
  readonly reference: string | null;
  /** Asset asked for, upper case. */
  readonly commodity: string | null;
  /** Network asked for. */
  readonly network: string | null;
  /** Asset amount asked for, a decimal string. */
  readonly commodityAmount: string | null;
  /** Fiat currency asked for, upper case. */
  readonly currency: string | null;
  /** Fiat amount asked for, a decimal string. */
  readonly currencyAmount: string | null;
  /** Address asked for. */
  readonly walletAddress: string | null;
  /** User asked for. */
  readonly userId: string | null;
}
