import type {
  ChainReading,
  ClaimBody,
  Expectation,
  HandRelease,
  WitnessRuleChange,
} from "./event.ts";
import type { ClaimedStatus, EventKind } from "../machines/machine.ts";
import type { OrderReading, UserReading } from "./readings.ts";
import type { WebhookType } from "../../core/webhook_event/webhook_event.ts";
import type { Status } from "../machines/transition.ts";

/**
 * What leads to an order: a widget session, a click id, an external id, or a
 * reference of what the partner expects of it.
 */
interface Link {
  readonly kind: "session" | "click" | "external" | "reference";
  readonly link: string;
}

/** A link that a fact of an order brings. */
export interface FactLink extends Link {
  /** Whether the service has shown it; otherwise only webhooks name it. */
  readonly confirmed: boolean;
}

export function linkKey({ kind, link }: Link): string {
  return `${kind}:${link}`;
}

/** Takes in the links that a fact of an order brings, by {@linkcode linkKey}. */
export function addLinks(links: Map<string, FactLink>, fact: Fact): void {
  const confirmed = fact.kind === "order_snapshot";
  const add = (kind: Link["kind"], link: string | null | undefined) => {
    if (!link) return;
    const key = linkKey({ kind, link });
    // What the service has shown stays shown.
    if (confirmed || !links.has(key)) links.set(key, { kind, link, confirmed });
  };
  add("session", fact.sessionId);
  add("click", fact.clickId);
  if (confirmed) add("external", fact.reading.externalOrderId);
  if (fact.kind === "webhook") add("external", fact.body?.externalOrderId);
}

/** Links by which an expectation finds the orders that it concerns. */
export function expectationLinks(
  { clickId, reference }: Pick<Expectation, "clickId" | "reference">,
): Link[] {
  const links: Link[] = [];
  if (clickId !== null) links.push({ kind: "click", link: clickId });
  if (reference !== null) links.push({ kind: "reference", link: reference });
  return links;
}

/**
 * The fields that every fact has. A fact is a recorded event, decoded once and
 * normalised. Folds read facts, never bodies.
 */
export interface FactBase {
  readonly position: number;
  readonly eventId: string;
  readonly recordedAt: string;
  /** Digest of the body; the empty string once erased. */
  readonly digest: string;
  readonly label: ActivityLabel;
  readonly orderId: string | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  /** The click id it concerns; never empty nor the test click id. */
  readonly clickId: string | null;
  /** Id of the erased event that it replaces, which is already counted. */
  readonly redacts?: string;
}

/**
 * What a fact is counted as: a documented webhook type (`order_canceled`
 * counts as `order_cancelled`), `unrecognised` for any other, `quarantined`
 * for a body that is not a JSON object, or the kind of an event of another kind.
 */
export type ActivityLabel =
  | WebhookType
  | "unrecognised"
  | "quarantined"
  | Exclude<EventKind, "webhook">;

export interface FactOf<Kind extends string> extends FactBase {
  readonly kind: Kind;
}

/** A webhook: what it claims of an order, and says of a user. */
export interface WebhookFact extends FactOf<"webhook"> {
  /** Status it claims for `orderId`; null when it claims none. */
  readonly claim: ClaimedStatus | null;
  /** Fields it states of the order; null where they cannot be read. */
  readonly body: ClaimBody | null;
  /** Set where what it stated was erased, all or some of it. */
  readonly erased?: true;
  readonly lkyc: string | null;
  readonly fkyc: string | null;
  readonly rejectType: string | null;
  readonly otp: OtpStep | null;
}

export interface OrderSnapshotFact extends FactOf<"order_snapshot"> {
  readonly reading: OrderReading;
}

/** Since when orders wait for the chain, or until when. */
export interface WitnessRuleFact extends FactOf<"witness_required"> {
  readonly change: WitnessRuleChange;
}

/** What the partner expects of an order: with a session, or without one. */
export interface ExpectationFact
  extends FactOf<"session_created" | "order_expected"> {
  readonly expectation: Expectation;
}

/** An event whose body is erased or cannot be read. */
export interface UnreadableFact extends FactOf<"unreadable"> {
  readonly reason: UnreadableReason;
}

/** Why the body of an event cannot be read. */
export type UnreadableReason =
  | {
    readonly code:
      | "body_erased"
      | "body_not_json"
      | "body_not_object"
      | "unknown_kind"
      | "contradiction_incomplete"
      | "release_incomplete"
      | "look_incomplete"
      | "rule_incomplete"
      | "session_without_id"
      | "expectation_without_id";
  }
  | {
    readonly code: "webhook_unrecognised";
    /** What the webhook parser reports. */
    readonly problems: readonly string[];
  };

export type Fact =
  | WebhookFact
  | OrderSnapshotFact
  | (FactOf<"user_snapshot"> & { readonly reading: UserReading })
  | (FactOf<"order_absent"> & { readonly readAt: string })
  | (
    & FactOf<"order_contradicted">
    & {
      readonly status: Status;
      /** `recordedAt` of the last claim that this contradicts. */
      readonly upTo: string;
    }
  )
  | (
    & FactOf<"order_released">
    & {
      readonly hand: HandRelease;
      /** Who recorded it, and why; null where it is not known. */
      readonly by: string | null;
      readonly why: string | null;
    }
  )
  | (FactOf<"chain_reading"> & { readonly look: ChainReading })
  | WitnessRuleFact
  | ExpectationFact
  // These fold into nothing. The id is null when the body is erased or unreadable.
  | (FactOf<"delivery_unanswered"> & { readonly deliveryId: string | null })
  | FactOf<"month_closed" | "note" | "person_erased">
  | UnreadableFact;

/** Whether a fact says what the partner expects of an order. */
export function isExpectation(fact: Fact): fact is ExpectationFact {
  return fact.kind === "session_created" || fact.kind === "order_expected";
}

/** Whether a fact says since when orders wait for the chain, or until when. */
export function isWitnessRule(fact: Fact): fact is WitnessRuleFact {
  return fact.kind === "witness_required";
}

/** One step of sending a one-time code. */
export interface OtpStep {
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** Identifier of the event: two equal steps are two steps. */
  readonly eventId: string;
  /** `requested`, `success`, `failed`, or a step not known here. */
  readonly status: string;
  /** On failure, the reason in words. */
  readonly detail: string | null;
  /** Country of the phone, ISO alpha-2. */
  readonly phoneCountry: string | null;
}
