import type { AppendDelivery, Delivery } from "../../core/wire/delivery.ts";

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
   * Appends every kept delivery, oldest first, and removes those that succeeded:
   * one at first, then more at a time while they succeed. After a failure some
   * may be appended again, so `append` must store each only once.
   *
   * @returns How many were appended.
   * @throws Whatever `append` threw first; the rest stays kept, in order.
   */
  drain(
    append: AppendDelivery,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /** Stops taking deliveries, and releases the files; stored deliveries stay. */
  close(): Promise<void>;
}
