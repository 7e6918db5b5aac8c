/** Options of every call. */
export interface CallOptions {
  /** Abandons the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of creating a session. */
export interface SessionOptions extends CallOptions {
  /**
   * The session is for a smart-contract purchase: `simple_full_restrict` then
   * needs neither wallet nor amount. Not sent.
   *
   * @default {false}
   */
  readonly smartContract?: boolean;
  /**
   * Fields, or values of fields, that the service has added since this version.
   * They are sent as they are, and no rule is applied to what they name.
   *
   * @default {{}}
   */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Options of a walk over all pages. */
export interface ListOptions extends CallOptions {
  /**
   * Walks in both directions and compares, so that `completeness` can be a
   * proof.
   *
   * @default {false}
   */
  readonly prove?: boolean;
  /**
   * How long after its creation an item may still appear, in milliseconds. A
   * window that ends later than the service's now less this proves nothing.
   *
   * @default {60000}
   */
  readonly settleMs?: number;
}
