/** An order that waits because another order has taken its purchase. */
export interface PurchaseWait {
  /** The order that waits. */
  readonly orderId: string;
  /** Digest of the purchase. */
  readonly digest: string;
  /** Why it would be released otherwise. */
  readonly reason: string;
  /** Position from which it waits: the first gets the purchase. */
  readonly position: number;
}
