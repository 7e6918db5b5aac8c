import type { SandboxOrder } from "../../sandbox/mod.ts";
import type { ChainsFile } from "../../witness/mod.ts";

/** The chains behind a demo, on which the service pays out. */
export interface DemoChain {
  /** Their nodes, as a partner's file names them. */
  readonly nodes: ChainsFile;
  /**
   * Pays what an order states.
   *
   * @returns The transaction; null on a network that has no chain here.
   */
  payOut(order: SandboxOrder): Promise<string | null>;
  /**
   * Pays a tenth less than an order states, and says nothing of it.
   *
   * @returns The transaction.
   */
  payShort(order: SandboxOrder): Promise<string>;
  /** Makes enough blocks for every payout to be final. */
  settle(): Promise<void>;
}

/** The asset of the order that is paid short: one that a chain here has. */
export const SHORT_ASSET = { commodity: "ETH", network: "sepolia" } as const;
