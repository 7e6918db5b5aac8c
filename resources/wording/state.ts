import type { Anomaly, OrderReason, UserVerdict } from "../../ledger/mod.ts";
import { ASKED_SOON, listWords, span, UNKNOWN_STATE } from "./phrases.ts";
import type {
  ExplainedMove,
  SessionMismatch,
  UnreadableField,
  WebhookMismatch,
} from "../../ledger/for_resources.ts";
import type { UserReason, WaitingDeliveries } from "../../ledger/types.ts";
import { describeRejectType } from "../../core/webhook_event/webhook_event.ts";
import type { Freshness } from "../../sync/mod.ts";

/** Why the status of an order is what it is, in one sentence. */
export function describeOrderReason(reason: OrderReason): string {
  switch (reason.code) {
    case "reading_is_final":
      return `The latest reading shows ${reason.read}, which is final`;
    case "reading_stands":
      return `The latest reading shows ${reason.read}, and no webhook claims more`;
    case "reading_unrecognised":
      return `The latest reading shows ${reason.read}, a status this version does not know and never takes as final`;
    case "reading_without_status":
      return "The service shows the order without a status that can be read" +
        (reason.claimed === null ? "" : `, a webhook claims ${reason.claimed}`);
    case "final_reading_contested":
      return `The latest reading shows ${reason.read}, and a claim of ${
        listWords(reason.contesting)
      } does not change a final status`;
    case "higher_claims_contradicted":
      return `The latest reading shows ${reason.read}; the service did not agree with ${
        listWords(reason.contradicted)
      } as claimed by webhooks`;
    case "claim_ahead_of_reading":
      return `A webhook claims ${reason.claimed}, which is ahead of ${reason.read} in the latest reading`;
    case "claim_not_read":
      return `A webhook claims ${reason.claimed} and the service has not been read yet`;
    case "claim_of_absent_order":
      return `A webhook claims ${reason.claimed}, and the service was asked and does not know the order`;
    case "all_claims_contradicted":
      return `The service did not agree with ${
        listWords(reason.contradicted)
      } as claimed by webhooks, and shows no such order`;
    case "nothing_claimed_or_read":
      return "No webhook claims a status and the service has not been read yet";
    case "nothing_claimed_of_absent_order":
      return "No webhook claims a status, and the service was asked and does not know the order";
  }
}

/** The move that an event made on the machine of an order, in one line. */
export function describeMove(
  { from, to, decision, reading }: ExplainedMove,
): string {
  const after = decision === "initial"
    ? "no status that counts"
    : `${to.status} (${to.trust})`;
  const steps = from === null
    ? `begins as ${after}`
    : from.status === to.status && from.trust === to.trust
    ? `stays ${after}`
    : `${from.status} (${from.trust}) -> ${after}`;
  if (reading === null || reading.anomaly === null) return steps;
  return `${steps}; the service went from ${reading.from} to ${reading.to}, ` +
    `${kinds[reading.kind]} (${reading.anomaly})`;
}

const kinds: Readonly<
  Record<NonNullable<ExplainedMove["reading"]>["kind"], string>
> = {
  same: "which is no move",
  usual: "which is usual",
  unusual: "which is unusual",
  impossible: "which cannot be by its own description",
};

/** Why the trust in the status of a user is what it is, in one sentence. */
export function describeUserReason(reason: UserReason): string {
  switch (reason.code) {
    case "not_read":
      return "The service has not been read yet, webhooks are all there is";
    case "reading_stands":
      return "The latest reading says so, and no later webhook claims more";
    case "claim_after_reading":
      return `A webhook received after the latest reading claims ${
        verifications(reason)
      }`;
    case "lower_claim_after_reading":
      return "The latest reading stands until the next one; a webhook " +
        `received after it states ${
          verifications(reason)
        }, which ranks no higher`;
  }
}

function verifications(
  { lkyc, fkyc }: Extract<UserReason, { readonly lkyc: unknown }>,
): string {
  return listWords([
    ...(lkyc === null ? [] : [`light verification ${lkyc}`]),
    ...(fkyc === null ? [] : [`document verification ${fkyc}`]),
  ]);
}

/** Describes an anomaly in one sentence. */
export function describeAnomaly(anomaly: Anomaly): string {
  switch (anomaly.kind) {
    case "contested":
      return `The service shows ${anomaly.read}, a webhook claims ${
        listWords(anomaly.claimed)
      }`;
    case "contradictory_webhooks":
      return `Webhooks claim ${listWords(anomaly.claimed)}`;
    case "contradicted":
      return `A webhook claimed ${anomaly.claimed}, and the service ` +
        (anomaly.read === null ? "did not agree" : `shows ${anomaly.read}`);
    case "final_changed":
      return `The service shows ${anomaly.read}, and has shown ${
        listWords(anomaly.before)
      }, which is final`;
    case "regression":
      return `The service showed ${anomaly.from} at ${anomaly.fromAt} and ${anomaly.to} later, at ${anomaly.toAt}`;
    case "absent":
      return anomaly.wasObserved
        ? "The service showed the order once and does not know it any more"
        : "The service was asked for the order and does not know it";
    case "unrecognised_status":
      return `This version does not know the status ${anomaly.read}`;
    case "success_without_transaction":
      return "The service shows success with an empty transaction";
    case "transaction_unreadable":
      return `The service states ${
        anomaly.txId ?? "a transaction that was erased"
      }, which is no transaction of its network`;
    case "transaction_on_unsuccessful":
      return `The order is ${anomaly.status} and ` +
        (anomaly.source === "webhook"
          ? `a webhook states transaction ${anomaly.txId}`
          : `the service shows transaction ${anomaly.txId}`);
    case "amount_mismatch":
    case "asset_mismatch":
    case "user_mismatch":
    case "address_mismatch":
    case "transaction_mismatch":
      return describeMismatch(anomaly);
    case "session_mismatch": {
      const [first, ...others] = anomaly.sessionIds;
      return `A webhook names session ${first}, which was not recorded under the order's click id before the order` +
        (others.length === 0 ? "" : `; ${others.length} more are named so`);
    }
    case "verification_reversed":
      return `The service shows ${anomaly.read}, and has shown ${
        listWords(anomaly.before)
      } before`;
    case "time_in_future":
      return `The service states ${anomaly.stated}, later than the reading that shows it: the time of that reading counts`;
    case "time_before_creation":
      return `The service states ${anomaly.stated}, before the order was created: the time of the reading counts`;
    case "unreadable_field":
      return `The service sent ${
        nouns[anomaly.value]
      } in ${anomaly.field}, which is left out`;
  }
}

function describeMismatch(mismatch: WebhookMismatch | SessionMismatch): string {
  switch (mismatch.source) {
    case "webhook":
      return `A webhook states ${mismatch.stated}, the service shows ${mismatch.read}`;
    case "session":
      return `The session asked for ${mismatch.requested}, the order has ${mismatch.ordered}` +
        (mismatch.customerMayChoose
          ? ", which its flow leaves open to the customer"
          : "");
  }
}

const nouns: Readonly<Record<UnreadableField["value"], string>> = {
  missing: "nothing",
  null: "null",
  empty: "an empty text",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
  text: "a text of another form",
  nul: "a text with the character NUL",
  too_long: "an identifier that is too long",
  too_deep: "a value that is nested too deeply",
};

const NAMES = {
  lkyc: "light verification",
  fkyc: "verification with documents",
} as const;

const UNDER_WAY = {
  finish_verification: ", and the user must finish it",
  wait: ", and the user must wait",
  unknown: "",
} as const;

/** The most important thing about a user, in one line. */
export function describeUserVerdict(verdict: UserVerdict): string {
  switch (verdict.code) {
    case "nothing_known":
      return "Nothing is known of a verification.";
    case "banned":
      return "Banned by the service: cannot buy.";
    case "not_confirmed":
      return `Not confirmed: a webhook says ${verdict.claimed} of the ${
        NAMES[verdict.by]
      }, and the service has not said so.`;
    case "doubted":
      return `Wait: the ${
        NAMES[verdict.by]
      } is ${verdict.state}, a later webhook says ${verdict.claimed}, and ` +
        "the service has not been asked since.";
    case "verified":
      return `Verified by the ${NAMES[verdict.by]}: may buy within the limits.`;
    case "failed":
      return `The ${NAMES[verdict.by]} failed` +
        (verdict.rejectReasons.length === 0
          ? ", and no webhook says why."
          : `: ${listWords(verdict.rejectReasons.map(rejection))}.`);
    case "retry":
      return `The ${
        NAMES[verdict.by]
      } has to be repeated: the user must hand in documents again.`;
    case "under_way":
      return `The ${NAMES[verdict.by]} is under way: ${verdict.state}` +
        `${UNDER_WAY[verdict.next]}.`;
    case "not_begun":
      return "Not verified: the user must begin.";
  }
}

/** The next step for staff about a user, by verdict. */
const NEXT: Readonly<Record<UserVerdict["code"], string>> = {
  nothing_known: "Nothing.",
  banned: "Nothing can be bought. Where the user asks, ask the service why.",
  not_confirmed: ASKED_SOON,
  doubted: ASKED_SOON,
  verified: "Nothing.",
  failed: "Tell the user why, where a reason is named; else ask the service.",
  retry: "Tell the user to hand in documents again; nothing can be bought " +
    "until then.",
  under_way: "Nothing: the service says when it is over.",
  not_begun: "Nothing: the user begins in the widget.",
};

/** Where an anomaly asks for more than the verdict does. */
const NEXT_OF_ANOMALY: Partial<Record<Anomaly["kind"], string>> = {
  verification_reversed:
    "The service took a verification back: ask it which state holds, and " +
    "hold the user's orders that are not delivered.",
};

/** The next step for staff about a user, in one sentence or two. */
export function userNext(
  verdict: UserVerdict,
  anomalies: readonly Pick<Anomaly, "kind">[],
): string {
  for (const { kind } of anomalies) {
    const next = NEXT_OF_ANOMALY[kind];
    if (next !== undefined) return next;
  }
  if (verdict.code === "under_way") {
    if (verdict.next === "finish_verification") {
      return "Tell the user to finish the verification.";
    }
    if (verdict.next === "unknown") return UNKNOWN_STATE;
  }
  return NEXT[verdict.code];
}

function rejection(code: string): string {
  return describeRejectType(code) ?? code;
}

/** What the user may be told, by verdict. */
const CUSTOMER: Readonly<Record<UserVerdict["code"], string>> = {
  nothing_known: "You have not begun a purchase with our payment partner yet.",
  banned: "Our payment partner does not accept purchases from your account. " +
    "We have no further details; please ask their support.",
  not_confirmed: "Our payment partner is looking at your verification. We " +
    "will know more in a few minutes.",
  doubted: "Our payment partner is looking at your verification again. We " +
    "will know more in a few minutes.",
  verified: "You are verified and can buy within your limits.",
  failed: "Our payment partner could not verify you, so that you cannot buy " +
    "at the moment. Please ask their support for the reason.",
  retry: "Please hand in your documents again in the payment window; you can " +
    "buy once they are accepted.",
  under_way: "Your verification is under way; you need do nothing until you " +
    "are asked.",
  not_begun: "You can begin your verification in the payment window.",
};

/** What the user may be told, in a sentence or two. */
export function userCustomer({ code, ...verdict }: UserVerdict): string {
  return code === "under_way" && "next" in verdict &&
      verdict.next === "finish_verification"
    ? "Please finish your verification in the payment window."
    : CUSTOMER[code];
}

const TIERS: Readonly<Record<Freshness["tier"], string>> = {
  named: "a webhook named it",
  open: "it may still change",
  recently_final: "it lately became final",
  deep: "with the whole past",
};

const DOUBTS: Readonly<Record<NonNullable<Freshness["doubt"]>, string>> = {
  never_observed: "the service has not shown it",
  not_polled: "no poller runs, so nobody asks again",
  polling_fails: "polling fails: see rampkit doctor",
  behind: "polling is behind: it should have been asked for again by now",
};

/** How fresh an answer is, in one line. */
export function describeFreshness(freshness: Freshness, nowMs: number): string {
  const { requestedAt, tier, nextAt, doubt } = freshness;
  const last = requestedAt === null
    ? "never asked for"
    : `asked ${span(nowMs - Date.parse(requestedAt))} ago`;
  if (doubt !== null) return `${last}; ${DOUBTS[doubt]}`;
  const waitMs = nextAt === null ? null : Date.parse(nextAt) - nowMs;
  const next = waitMs === null
    ? `again ${TIERS[tier]}`
    : waitMs <= 0
    ? `again now (${TIERS[tier]})`
    : `again in ${span(waitMs)} (${TIERS[tier]})`;
  return `${last}, ${next}`;
}

/** Says that deliveries wait, in one sentence. */
export function waitingText(
  { count, oldestMs, ended }: WaitingDeliveries,
  nowMs: number,
): string {
  const what = count === 1
    ? "1 answered delivery waits"
    : `${count} answered deliveries wait`;
  const age = span(Math.max(0, nowMs - oldestMs));
  const sentence = `${what} to go into the ledger, the oldest for ${age}`;
  return ended === 0
    ? sentence
    : `${sentence}; ${ended} of them may wait in the files of an ended ` +
      "process, from where a running serve takes them";
}
