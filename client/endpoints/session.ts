/**
 * What to ask for with a session. Field names are the service's own.
 *
 * Amounts are decimal strings; whole numbers may be JavaScript numbers.
 *
 * Source: service interface, "POST /api/external/hpp/create-session".
 */
export interface SessionInput {
  /**
   * `simple` lets the user choose; `simple_full_restrict` locks everything.
   *
   * @default {"simple"}
   */
  readonly flow_type?: FlowType;
  /** User the session is for. */
  readonly user_id?: string;
  /**
   * Asset code, in any case; sent as listed. Needs `network`.
   *
   * @default {"BTC"} at the service.
   */
  readonly commodity?: string;
  /** Asset amount; ignored by the service when `currency_amount` is set. */
  readonly commodity_amount?: string | number;
  /**
   * Network of the asset, in any case; sent as listed.
   *
   * @default {"bitcoin"} at the service.
   */
  readonly network?: string;
  /** Address the asset goes to. */
  readonly wallet_address?: string;
  /** Fiat currency; sandbox has no EUR. Required with `currency_amount`. */
  readonly currency?: "USD" | "EUR";
  /** Fiat amount: at least 1 (USD), at least 30 for BTC. */
  readonly currency_amount?: string | number;
}

/** How much of the widget the partner decides. */
export type FlowType = "simple" | "simple_full_restrict";

/** A widget session: valid for 30 seconds, and for one use. */
export interface Session {
  /** Identifier to open the widget with. */
  readonly sessionId: string;
  /** Request identifier; null when the service left it out. */
  readonly requestId: string | null;
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
}
