import type { AppendDelivery, Delivery } from "./delivery.ts";

/**
 * Keeps deliveries somewhere durable while the ledger cannot take them.
 * {@linkcode fileSpool} is the one that comes with this module.
 */
export interface Spool {
  /** Deliveries kept and not yet drained. */
  readonly depth: number;
  /** Bytes those deliveries take. */
  readonly bytes: number;
  /**
   * Keeps a delivery. Resolves only when it would survive the machine going
   * down.
   *
   * @throws {SpoolError} When it could not be kept.
   */
  put(delivery: Delivery): Promise<void>;
  /**
   * Hands every kept delivery to `append`, oldest first, and forgets those it
   * took: one at first and, while they are taken, ever more at a time. After a
   * failure some may be handed over again, so `append` is to store each once.
   *
   * @returns How many `append` took.
   * @throws Whatever `append` threw first; the rest stays kept, in order.
   */
  drain(
    append: AppendDelivery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /** Stops taking deliveries, and releases the files; what is kept stays. */
  close(): Promise<void>;
}
