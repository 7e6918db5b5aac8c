/**
 * One delivery as it reached the endpoint; its body has not been read yet.
 * Headers are left out on purpose: they may carry secrets.
 */
export interface Delivery {
  /** ULID minted at receipt; the event keeps it for ever. */
  readonly id: string;
  /** When it arrived, UTC ISO 8601 with milliseconds. */
  readonly receivedAt: string;
  /** The exact bytes of the body. */
  readonly body: Uint8Array;
}

/**
 * Stores deliveries for good. Resolves only after the commit that holds
 * `delivery`; the same delivery stored twice is stored once.
 */
export type AppendDelivery = (delivery: Delivery) => Promise<void>;

/** What the sender of a stored delivery got instead of a timely 2xx. */
export interface UnansweredDelivery {
  /** `id` of the delivery. */
  readonly id: string;
  /** When it was noticed, UTC ISO 8601 with milliseconds. */
  readonly noticedAt: string;
  /** What the sender saw. */
  readonly answer: "late" | "503" | "none";
}
