import type { Verdict, VerdictReason } from "../core/chain/verdict.ts";
import { type AmountRule, compareAmounts } from "./amounts.ts";
import type { Finding } from "./finding.ts";
import type { BlockPlace, TransferQuestion } from "./transfer.ts";

/** What one node's finding means for an order. */
export interface NodeVerdict {
  /** The verdict. */
  readonly verdict: Verdict;
  /** Reason for the verdict. */
  readonly reason: VerdictReason | null;
  /** What arrived, a plain decimal. */
  readonly arrived: string | null;
  /** The block that holds the transaction. */
  readonly block: BlockPlace | null;
  /** Place of the payment in the transaction. */
  readonly index: number | null;
  /** Blocks from its own to the newest. */
  readonly confirmations: number | null;
  /** Whether it has the confirmations that the partner asks for. */
  readonly final: boolean;
}

/** What a finding is compared with. */
export interface VerdictRule extends AmountRule {
  /** Blocks that count as final. */
  readonly confirmations: number;
}

/**
 * What the finding of a node means for an order. Pure.
 *
 * @param finding Where the node has the transaction, and what it did.
 * @param question What it should have done.
 * @param rule How amounts are compared, and what counts as final.
 * @returns The verdict of that node.
 */
export function verdictOf(
  finding: Finding,
  question: TransferQuestion,
  rule: VerdictRule,
): NodeVerdict {
  switch (finding.place) {
    case "unknown":
      return nowhere("absent");
    case "waiting":
      return nowhere("pending");
    case "dropped":
      return {
        ...nowhere("reorged"),
        block: finding.block,
        final: finding.depth >= rule.confirmations,
      };
    case "block":
      return inBlock(finding, question, rule);
  }
}

function nowhere(verdict: Verdict): NodeVerdict {
  return {
    verdict,
    reason: null,
    arrived: null,
    block: null,
    index: null,
    confirmations: null,
    final: false,
  };
}

function inBlock(
  { block, confirmations, effect }: Extract<Finding, { place: "block" }>,
  { amount, others = [] }: TransferQuestion,
  rule: VerdictRule,
): NodeVerdict {
  const found = {
    ...nowhere("undecided"),
    block,
    confirmations,
    final: confirmations >= rule.confirmations,
  };
  switch (effect.kind) {
    case "reverted":
      return { ...found, verdict: "reverted" };
    case "unclear":
      // A node that traces may still decide it.
      return { ...found, reason: effect.reason, final: false };
    case "called":
      // Nobody can say whose the one call is that several orders name.
      if (effect.succeeded && others.length > 0) {
        return { ...found, reason: "shared_transaction", final: false };
      }
      return {
        ...found,
        verdict: effect.succeeded ? "delivered" : "other_recipient_or_asset",
      };
    case "paid":
      if (amount === null) {
        return { ...found, reason: "amount_not_stated", final: false };
      }
      return decided({
        ...found,
        ...compareAmounts(effect.payments, amount, others, rule),
      });
  }
}

/** An undecided verdict is never final. */
function decided(verdict: NodeVerdict): NodeVerdict {
  return verdict.verdict === "undecided"
    ? { ...verdict, final: false }
    : verdict;
}
