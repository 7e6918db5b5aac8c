import { MATCH_FACTS, type MatchFact } from "../events/order_facts.ts";

/**
 * Every value of each fact, in the order in which documents list them. The first
 * stays the first: stored states leave it out.
 */
export const FACT_VALUES = {
  shown: [
    "none",
    "denied",
    "unreadable",
    "unlisted",
    "created",
    "progress",
    "pending",
    "success",
    "failed",
    "cancelled",
  ],
  gone: ["no", "yes"],
  before: ["none", "success", "other"],
  code: ["none", "declined", "expired", "late", "amount", "user", "other"],
  tx: ["named", "unreadable", "empty", "unstated"],
  match: MATCH_FACTS as typeof MATCH_FACTS,
  chain: ["none", "agrees", "differs", "off", "open"],
  required: ["no", "yes"],
  claim: ["none", "counts", "rejected"],
  overdue: ["no", "yes"],
  twice: ["no", "yes"],
} as const;

/**
 * What the latest reading shows.
 *
 * - `none`: the service was not read yet.
 * - `denied`: the service was asked, and never showed the order; or it agreed
 *   with no claim.
 * - `unreadable`: a row without a status that can be read.
 * - `unlisted`: a status that this version does not know.
 * - any other: that status.
 */
export type ShownFact = (typeof FACT_VALUES)["shown"][number];

/**
 * Group of the payment error that the latest reading names.
 *
 * - `declined`: 4000 to 4005 and 4010 to 4014.
 * - `expired` 4015, `late` 4016, `amount` 4017, `user` 4018.
 * - `other`: any other code or text.
 * - `none`: none is named.
 */
export type CodeFact = (typeof FACT_VALUES)["code"][number];

/**
 * What the chain shows of the transaction.
 *
 * - `agrees`: delivered and final.
 * - `differs`: another recipient or asset, or reverted; final.
 * - `off`: another amount; final.
 * - `open`: unknown, or not final.
 * - `none`: nobody looked.
 */
export type ChainFact = (typeof FACT_VALUES)["chain"][number];

/** The facts that decide an order's row in the table of outcomes. */
export interface OutcomeFacts {
  /** What the latest reading shows. */
  readonly shown: ShownFact;
  /** Whether a reading showed the order and the last one asked for did not. */
  readonly gone: (typeof FACT_VALUES)["gone"][number];
  /** Another final status that readings have shown. */
  readonly before: (typeof FACT_VALUES)["before"][number];
  /** Group of the payment error that the latest reading names. */
  readonly code: CodeFact;
  /**
   * The transaction of the latest reading: `named`, `unreadable` (not in the
   * form of its network), `empty` (stated as none), or `unstated`.
   */
  readonly tx: (typeof FACT_VALUES)["tx"][number];
  /** How the latest reading compares with what the partner recorded. */
  readonly match: MatchFact;
  /** What the chain shows of the transaction. */
  readonly chain: ChainFact;
  /** Whether the release of a success waits until the chain agrees. */
  readonly required: (typeof FACT_VALUES)["required"][number];
  /**
   * Whether a webhook says more than the service does, of an order that is not
   * final: `counts`, or `rejected` when the service did not agree.
   */
  readonly claim: (typeof FACT_VALUES)["claim"][number];
  /**
   * Whether it is paid and unchanged for an hour, or waits for the chain for a
   * day. Not stored: readers add it.
   */
  readonly overdue: (typeof FACT_VALUES)["overdue"][number];
  /** Whether another order holds its reference. Not stored: readers add it. */
  readonly twice: (typeof FACT_VALUES)["twice"][number];
}

/**
 * The facts that a state holds: those that depend neither on time nor on other
 * orders.
 */
export type StoredFacts = Omit<OutcomeFacts, "overdue" | "twice">;
