import type { Verdict, VerdictReason } from "../core/chain/verdict.ts";

/** A block by which a transaction is known. */
export interface BlockPlace {
  /** Hash of the block, as the network writes it. */
  readonly blockHash: string;
  /** Its height. */
  readonly blockHeight: number;
}

/** What a transaction should have done, according to the service. */
export interface TransferQuestion {
  /** Network as in the asset tables, in any case. */
  readonly network: string;
  /** Asset code, in any case. */
  readonly asset: string;
  /** The transaction. */
  readonly txId: string;
  /**
   * Address that should have been paid; of a smart-contract order the contract.
   */
  readonly address: string | null;
  /** Amount of the asset, a plain decimal; null when not stated. */
  readonly amount: string | null;
  /**
   * Of a smart-contract order, the call that should have been made: then the
   * success of that call is checked, and no amount.
   *
   * @default {null}
   */
  readonly smartContract?: {
    /** The contract. */
    readonly address: string;
    /** Input of the call in hex; null where any call of it counts. */
    readonly inputData: string | null;
  } | null;
  /**
   * Amounts of other orders that name the same transaction and address.
   *
   * @default {[]}
   */
  readonly others?: readonly string[];
  /**
   * The block in which it was seen before: distinguishes a reorganisation from
   * a transaction that nobody knows.
   *
   * @default {null}
   */
  readonly before?: BlockPlace | null;
}

/** What the nodes of a network showed of a transaction. */
export interface Look {
  /** The verdict. */
  readonly verdict: Verdict;
  /** Reason for the verdict; null when it needs none. */
  readonly reason: VerdictReason | null;
  /** Amount that the address received, a plain decimal; null when unknown. */
  readonly arrived: string | null;
  /** Blocks from its own to the newest; null when it is in no block. */
  readonly confirmations: number | null;
  /** Whether it has the confirmations that the partner asks for. */
  readonly final: boolean;
  /** The block that holds it, or that held it and was taken out; else null. */
  readonly block: BlockPlace | null;
  /** What supports it. */
  readonly evidence: Evidence;
}

/** What supports a verdict. */
export interface Evidence {
  /** Place of the payment in it: of a log, or an output; null otherwise. */
  readonly index: number | null;
  /** Names of the nodes that agree on it. */
  readonly nodes: readonly string[];
  /** SHA-256 of their raw answers, in hex; null where none answered. */
  readonly answers: string | null;
  /** Tolerance of the amount, as configured; null without one. */
  readonly tolerance: string | null;
  /** Nodes of the network that do not agree on it, and why. */
  readonly problems: readonly NodeTrouble[];
}

/** What is wrong with a node, or with what it said. */
export interface NodeTrouble {
  /** The node's name. */
  readonly node: string;
  /** What is wrong. */
  readonly problem: NodeProblem;
}

/** Every problem of a node, in the order in which documents list them. */
export const NODE_PROBLEMS = [
  "unreachable",
  "timeout",
  "refused",
  "rate_limited",
  "bad_answer",
  "wrong_chain",
  "syncing",
  "lagging",
  "no_index",
  "pruned",
  "says_otherwise",
] as const;

/**
 * What is wrong with a node.
 *
 * - `unreachable`: no connection, or it was lost.
 * - `timeout`: no answer in time.
 * - `refused`: the key, or the method, is not allowed (HTTP 401 or 403).
 * - `rate_limited`: too many requests (HTTP 429).
 * - `bad_answer`: another error, or an answer that cannot be read.
 * - `wrong_chain`: it serves another chain.
 * - `syncing`: it has not read the chain to its end yet.
 * - `lagging`: its newest block is old, or far behind another node's.
 * - `no_index`: it cannot find transactions by their hash.
 * - `pruned`: it no longer has what is asked for.
 * - `says_otherwise`: the others agree on something else.
 */
export type NodeProblem = (typeof NODE_PROBLEMS)[number];

/** A witness of transfers: asks the partner's own nodes. */
export interface ChainWitness {
  /**
   * Looks at a transaction. It never throws for what a node does.
   *
   * @param question What it should have done.
   * @param signal Aborts it: answers that have not arrived by then are missing.
   * @returns What the nodes show.
   */
  look(question: TransferQuestion, signal?: AbortSignal): Promise<Look>;
}
