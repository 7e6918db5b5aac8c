/** Every verdict about a transaction, in the order in which documents list them. */
export const VERDICTS = [
  "delivered",
  "short",
  "more",
  "other_recipient_or_asset",
  "reverted",
  "pending",
  "absent",
  "reorged",
  "wrong_chain",
  "undecided",
  "unsupported",
] as const;

/**
 * What the partner's nodes show of a transaction.
 *
 * - `delivered`: the address has the amount of the asset; of a smart-contract
 *   order: the call to the right contract succeeded.
 * - `short`, `more`: less or more than the amount arrived.
 * - `other_recipient_or_asset`: it carried nothing of the asset to the address.
 * - `reverted`: it is in a block, but was reverted.
 * - `pending`: known, but in no block yet.
 * - `absent`: not known to the nodes. Never final.
 * - `reorged`: the block that held it is no longer part of the chain.
 * - `wrong_chain`: the nodes serve another chain than the network's.
 * - `undecided`: the nodes do not agree, did not answer, or cannot tell.
 * - `unsupported`: it cannot be looked at: the network is not configured, or
 *   the token is not pinned.
 */
export type Verdict = (typeof VERDICTS)[number];

/** Why a look has no better verdict; null where it needs no reason. */
export type VerdictReason =
  | "no_node_answered"
  | "no_quorum"
  | "nodes_disagree"
  | "cannot_trace"
  | "receipt_missing"
  | "shared_transaction"
  | "network_not_configured"
  | "network_not_supported"
  | "token_not_pinned"
  | "amount_not_stated"
  | "address_not_stated"
  | "transaction_not_readable";

/**
 * Whether the release of a success waits until the partner's chain nodes have
 * seen it arrive.
 *
 * - `off`: it does not wait.
 * - `supported`: it waits, unless the order's pair cannot be looked at: its
 *   network is not configured, or its token is not pinned.
 * - `all`: it waits whatever the pair; for one that cannot be looked at a
 *   person decides.
 */
export type WitnessRule = "off" | "supported" | "all";

/** Every rule, in the order in which documents list them. */
export const WITNESS_RULES: readonly WitnessRule[] = [
  "off",
  "supported",
  "all",
];
