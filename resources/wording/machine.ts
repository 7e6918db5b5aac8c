import type {
  Decision,
  Machine,
  Move,
  Observation,
} from "../../ledger/for_resources.ts";

/** What each state means, by its code. */
const meanings: Readonly<Record<string, string>> = {
  payment_not_processed: "Created; the payment is not processed yet",
  payment_not_completed: "Being processed; the payment is not completed yet",
  not_yet_sent: "Being processed; nothing is sent on the blockchain yet",
  will_not_be_sent: "Failed; nothing will be sent on the blockchain",
  sent: "Successful; sent on the blockchain",
  cancelled_after_payment:
    "The payment was processed, and the order was cancelled later",
  unlisted_status: "A status that this version does not know",
  not_begun: "The verification has not begun",
  begun: "The user has begun, and not handed everything in",
  under_review: "The service is checking",
  documents_wanted: "The service wants documents again",
  not_passed: "The verification failed",
  passed: "The verification is passed",
  may_buy: "The user may buy",
  may_not_buy: "The service has banned the user",
  unlisted_state: "A state that this version does not know",
};

/** What a state means, in one sentence. */
export function describeMeaning(meaning: string): string {
  return meanings[meaning] ?? meaning;
}

/** What a type of webhook contributes. */
export function describeContribution(
  contribution: Machine["webhooks"]["test"],
): string {
  return contribution === null
    ? "nothing"
    : contribution === "stated"
    ? "the state in its body"
    : contribution;
}

/** What an event other than a webhook contributes. */
export const observationWords: Readonly<
  Record<NonNullable<Observation>, string>
> = {
  reads: "a reading: the latest one is A",
  absent: "an anomaly: the service does not know it",
  contradicts: "a claim received until then no longer counts",
};

/** What a reading and a claim make: the state, and how sure it is. */
export function describeDecision(
  decision: Decision,
  { initial, read, claimed }: {
    readonly initial: string;
    readonly read: string;
    readonly claimed: string;
  },
): string {
  switch (decision) {
    case "reading":
      return `${read}, confirmed`;
    case "reading_contested":
      return `${read}, confirmed; contested`;
    case "reading_in_doubt":
      return `${read}, confirmed; asked again`;
    case "claim":
      return `${claimed}, claimed`;
    case "initial":
      return `${initial}, claimed`;
  }
}

/** How two readings follow each other. */
export function describeMoveKind({ kind, anomaly }: Move): string {
  return anomaly === null ? kindWords[kind] : `${kindWords[kind]}: ${anomaly}`;
}

const kindWords: Readonly<Record<Move["kind"], string>> = {
  same: "-",
  usual: "usual",
  unusual: "unusual",
  impossible: "impossible",
};
