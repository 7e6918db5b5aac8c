import type {
  LedgerTypes,
  OrderState,
  RecordedRelease,
  Release,
  ReleaseReason,
  StandingOutcome,
} from "../../ledger/mod.ts";
import { listWords } from "./phrases.ts";

/** What a release means. */
export const RELEASE: Readonly<Record<Release, string>> = {
  yes: "the goods may be released",
  no: "release no goods",
  wait: "release no goods yet",
  unchecked: "compare it yourself before you release",
  settled: "a person has dealt with it",
};

/** Why a release is what it is. */
export const RELEASE_REASON: Readonly<Record<ReleaseReason, string>> = {
  not_shown: "the service has not shown the order yet",
  absent: "the service does not show the order",
  unknown_status: "the service shows a status that is not known",
  final_changed: "the service took a final status back",
  ended: "the order ended without success",
  not_final: "the order has not ended",
  not_as_requested: "the order is not what was asked for",
  contradictory: "the service shows success and a payment error",
  no_transaction: "the service shows success and no transaction",
  chain_differs: "the chain shows another transfer",
  several_match: "several references fit",
  paid_twice: "another order holds the reference",
  witness_open: "the chain has not shown it yet",
  session_matched: "the order is what was asked for",
  incomplete: "not all of it could be compared",
  nothing_recorded: "nothing was recorded to compare with",
  delivered: "a person has delivered it",
  refunded: "a person has refunded it",
  written_off: "a person has written it off",
};

/** The next step where a release changed and was sent to nobody, with commands. */
export const NOT_SENT = {
  yes: (fire: string, release: string): string =>
    "This release was sent to nobody. If it was delivered or refunded, record " +
    `that: \`${release} --delivered\` or \`--refunded\`, with ` +
    "`--by NAME --why TEXT`. Else have your programs release it: " +
    `\`${fire}\`.`,
  taken: (fire: string): string =>
    `It was sent to nobody: \`${fire}\` sends it to your programs.`,
} as const;

/** What is left to do, and to tell the customer, once a person has acted. */
export const BY_HAND: Readonly<
  Record<
    StandingOutcome,
    { readonly next: string; readonly customer: string }
  >
> = {
  delivered: {
    next: "Nothing: a person has delivered it.",
    customer: "Your order has been delivered.",
  },
  refunded: {
    next: "Nothing: a person has refunded it.",
    customer: "We have returned the money for your order to you.",
  },
  written_off: {
    next: "Nothing: a person has written it off.",
    customer: "Please write to us about this order.",
  },
};

/** What a person did about an order, in one sentence. */
export function describeHandRelease(
  { outcome, by, why, for: reference, at }: RecordedRelease,
): string {
  const what = reference === null ? outcome : `${outcome} for ${reference}`;
  return `${what} by ${by} at ${at}: ${why}`;
}

/** What each verdict says, as the middle of a sentence. */
export const VERDICT: Readonly<Record<LedgerTypes.Verdict, string>> = {
  delivered: "the address has the amount",
  short: "less than the amount arrived",
  more: "more than the amount arrived",
  other_recipient_or_asset:
    "the transaction carried nothing of the asset to the address",
  reverted: "the transaction was undone",
  pending: "the transaction waits for a block",
  absent: "the nodes do not know the transaction",
  reorged: "the block that held the transaction was taken out of the chain",
  wrong_chain: "the nodes serve another chain",
  undecided: "the nodes cannot decide it",
  unsupported: "it cannot be looked up",
};

/** The reason for a verdict, as the middle of a sentence. */
export const VERDICT_REASON: Readonly<
  Record<LedgerTypes.VerdictReason, string>
> = {
  no_node_answered: "no node gave an answer that can be used",
  no_quorum: "too few nodes answered",
  nodes_disagree: "the nodes say different things",
  cannot_trace:
    "no node can trace, and the payment may have come from inside a contract",
  receipt_missing: "the node no longer has the receipt",
  shared_transaction:
    "other orders name the same transaction, and their payments cannot be distinguished",
  network_not_configured: "no node of the network is configured",
  network_not_supported: "this version cannot ask nodes of the network",
  token_not_pinned: "no contract of the token is pinned",
  amount_not_stated: "the service states no amount",
  address_not_stated: "the service states no address that can be read",
  transaction_not_readable: "the transaction is not in the network's form",
};

/** A number in groups of three digits: `871,204`. */
function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** What the chain shows of an order, in one sentence; null where nobody looked. */
export function describeWitness(
  { witness, commodity, address }: Pick<
    OrderState,
    "witness" | "commodity" | "address"
  >,
): string | null {
  if (witness === null) return null;
  const { verdict, reason, arrived, blockHeight, confirmations, final, nodes } =
    witness;
  const asset = commodity ?? "";
  const whom = address ?? "the address";
  const what = verdict === "delivered"
    ? arrived === null
      ? "The call of the order's contract succeeded"
      : `${arrived} ${asset} reached ${whom}`
    : verdict === "short" || verdict === "more"
    ? `${arrived} ${asset} reached ${whom}, ${
      verdict === "short" ? "less" : "more"
    } than the ${witness.amount ?? "amount"} of the order`
    : VERDICT[verdict].replace(/^./, (letter) => letter.toUpperCase());
  return [
    what +
    (blockHeight === null ? "" : ` in block ${grouped(blockHeight)}`),
    confirmations === null
      ? null
      : `${confirmations} ${
        confirmations === 1 ? "confirmation" : "confirmations"
      }${final ? "" : ", not final yet"}`,
    nodes.length === 0 ? null : `read from ${listWords(nodes)}`,
    reason === null ? null : VERDICT_REASON[reason],
  ].filter((part) => part !== null).join(", ") + ".";
}

/** Why an order cannot be looked at. */
export function nothingToLookAt(
  why: "unknown_order" | "not_shown" | "no_transaction" | "erased",
): string {
  return {
    unknown_order: "the ledger has no such order",
    not_shown: "the service has not shown the order yet",
    no_transaction: "the service names no transaction",
    erased: "its transaction was erased",
  }[why];
}

/** What a customer may be told once the chain shows it, and only then. */
export const ARRIVED =
  "Your order is complete: the crypto has arrived at your address.";
