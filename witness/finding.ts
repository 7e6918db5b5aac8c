import type { BlockPlace, NodeProblem } from "./transfer.ts";

/** Something that a transaction paid to the address, in smallest units. */
export interface Payment {
  /** How much. */
  readonly units: bigint;
  /** Place of its log or output; null where it has none. */
  readonly index: number | null;
}

/** What a transaction did, as one node shows it. */
export type Effect =
  | { readonly kind: "reverted" }
  | { readonly kind: "paid"; readonly payments: readonly Payment[] }
  | { readonly kind: "called"; readonly succeeded: boolean }
  | {
    readonly kind: "unclear";
    readonly reason: "cannot_trace" | "receipt_missing";
  };

/** Where one node has a transaction, and what it did there. */
export type Finding =
  /** The node knows no such transaction. */
  | { readonly place: "unknown" }
  /** It waits for a block. */
  | { readonly place: "waiting" }
  /**
   * It was in a block that is no longer part of the chain; `depth` is the
   * number of blocks from the one that replaced it, that one included.
   */
  | {
    readonly place: "dropped";
    readonly block: BlockPlace;
    readonly depth: number;
  }
  /** It is in a block. */
  | {
    readonly place: "block";
    readonly block: BlockPlace;
    /** Blocks from its own to the newest, both included. */
    readonly confirmations: number;
    readonly effect: Effect;
  };

/** How far a node has come. */
export interface NewestBlock {
  /** Height of its newest block. */
  readonly tip: number;
  /** Time of its newest block, milliseconds since 1970. */
  readonly tipMs: number;
}

/** What one node said. */
export type NodeAnswer =
  | {
    readonly node: string;
    readonly problem: NodeProblem;
    readonly finding: null;
    readonly raw: string;
  }
  | NewestBlock & {
    readonly node: string;
    readonly problem: null;
    readonly finding: Finding;
    /** Its answers as received, one a line. */
    readonly raw: string;
  };

/**
 * Thrown by an adapter when a node cannot be used; it never holds the address.
 */
export class NodeFailure extends Error {
  /** Names this class whatever module it comes from. */
  override readonly name = "NodeFailure";
  /** What is wrong with the node. */
  readonly problem: NodeProblem;

  /** Says what is wrong with a node. */
  constructor(problem: NodeProblem) {
    super(`The node cannot be used: ${problem}`);
    this.problem = problem;
  }
}
