import type {
  RecordedRelease,
  Release,
  ReleaseReason,
  StandingOutcome,
} from "../../ledger/mod.ts";

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
