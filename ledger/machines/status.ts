import type { OrderStatus } from "../../core/wire/order.ts";

/** How sure the ledger is: a webhook claims, the Data API confirms. */
export type Trust = "claimed" | "confirmed";

/**
 * The status of an order: the documented ones, or one not known here, which
 * ranks above all and is never final.
 */
export type Status = OrderStatus | (string & Record<never, never>);
