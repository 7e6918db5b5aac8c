import type { VirtualTransfer } from "./virtual_chain.ts";

/** What becomes of the crypto of an order. */
export const FATES = [
  "delivered",
  "paid short",
  "paid too much",
  "paid to another",
  "reverted",
  "sent late",
  "never sent",
  "taken out and sent again",
] as const;

/** One of them. */
export type Fate = (typeof FATES)[number];

/** Blocks that count as final. */
export const CONFIRMATIONS = 3;

/** An order of the scene, and what becomes of its crypto. */
export interface ChainOrder {
  readonly orderId: string;
  readonly fate: Fate;
  /** What the service states. */
  readonly stated: VirtualTransfer;
  /** What is sent. */
  readonly sent: VirtualTransfer;
}
