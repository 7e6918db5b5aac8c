import {
  type Activity,
  type ActivityFold,
  activityOf,
  evolveActivity,
  noActivity,
} from "./activity_fold.ts";
import {
  addClaim,
  addContradiction,
  type Claim,
  type Contradiction,
} from "./claims.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
  isWitnessRule,
  type OrderSnapshotFact,
  type WebhookFact,
  type WitnessRuleFact,
} from "../events/fact.ts";
import type { ChainReading } from "../events/chain_reading.ts";
import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import { addChainReading } from "./chain_readings.ts";
import { evolveHand, type Hand } from "../events/hand_release.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Expectation } from "../events/expectation.ts";
import {
  addObservedStatus,
  addReading,
  isLater,
  isReadLater,
  latestReading,
  type ObservedStatus,
} from "./readings.ts";
import {
  addSession,
  expectationsOf,
  type NamedSession,
} from "./expectations.ts";
import { earlierTime, laterTime } from "../events/time.ts";
import type { ClaimedStatus } from "../machines/order_machine.ts";
import { type ClaimState, claimState } from "./order_status.ts";

/**
 * Everything the ledger keeps of an order: plain JSON, of bounded size.
 *
 * Each field is a join-semilattice (a maximum, a minimum, or a bounded set by
 * a total order), so that facts can be added in any order, any number of
 * times, in any batches; only `activity` counts, and relies on each event
 * being folded once.
 */
export interface OrderFold extends Hand {
  /** Order identifier. */
  readonly orderId: string;
  /**
   * A: `plausible`, or `ahead` where that was read after every plausible one.
   * See {@linkcode latestReading}.
   */
  readonly latest: OrderReading | null;
  /**
   * The latest reading by (`changed_at`, rank, `read_at`, content) whose
   * `changed_at` does not lie ahead of it.
   */
  readonly plausible: OrderReading | null;
  /** `read_at` of the last such reading. */
  readonly plausibleAt: string | null;
  /** The last reading whose `changed_at` lies ahead of it. */
  readonly ahead: OrderReading | null;
  /** The latest reading by (`read_at`, content) whose status cannot be read. */
  readonly statusless: OrderReading | null;
  /**
   * The latest redacted reading that says how the order compared with what
   * the partner recorded.
   */
  readonly redacted: OrderReading | null;
  /** Every status readings showed, by rank. */
  readonly observedStatuses: readonly ObservedStatus[];
  /** Every status webhooks claimed, by rank. */
  readonly claims: readonly Claim[];
  /** Whether a webhook said that the transfer has begun. */
  readonly transferSeen: boolean;
  /** The latest contradiction of each status, by rank. */
  readonly contradicted: readonly Contradiction[];
  /** `read_at` of the last reading that showed the order. */
  readonly seenAt: string | null;
  /** `read_at` of the last reading that did not. */
  readonly absentAt: string | null;
  /** Widget sessions that webhooks name; those named first are kept. */
  readonly sessions: readonly NamedSession[];
  /** The earliest effective `created_at` of its readings; null without one. */
  readonly createdAt: string | null;
  /** The earliest effective `read_at` of its readings; null without one. */
  readonly firstReadAt: string | null;
  /**
   * The earliest effective `read_at` of its readings that show success; null
   * without one.
   */
  readonly successReadAt: string | null;
  /** What the partner expects of the order, earliest first. */
  readonly expectations: readonly Expectation[];
  /** Looks at the chain: the latest final one, and the latest. */
  readonly looks: readonly ChainReading[];
  /** Of a success, the rule by which it waits for the chain; null where it does not. */
  readonly required: Exclude<WitnessRule, "off"> | null;
  /** What was received, and when. Not part of the state. */
  readonly activity: ActivityFold;
}

/** An order without any fact. */
export function initialOrderFold(orderId: string): OrderFold {
  return {
    orderId,
    latest: null,
    plausible: null,
    plausibleAt: null,
    ahead: null,
    statusless: null,
    redacted: null,
    observedStatuses: [],
    claims: [],
    transferSeen: false,
    contradicted: [],
    seenAt: null,
    absentAt: null,
    sessions: [],
    createdAt: null,
    firstReadAt: null,
    successReadAt: null,
    expectations: [],
    hand: null,
    handed: null,
    looks: [],
    required: null,
    activity: noActivity,
  };
}

/**
 * Adds a fact to the fold of an order. Pure; the cost does not depend on how many
 * facts were added before. What the partner expects, and whether orders wait for
 * the chain, is joined apart, by `JoinedFacts`: whenever a fact moves the click id of
 * the latest reading, the beginning or the first success, all that the order may
 * keep has to be joined again.
 */
export function evolveOrder(fold: OrderFold, fact: Fact): OrderFold {
  if (isExpectation(fact) || isWitnessRule(fact)) return fold;
  if (fact.orderId !== fold.orderId) return fold;
  const next = add(fold, fact);
  if (next.expectations.length === 0) return next;
  const expectations = expectationsOf(next, next.expectations);
  return expectations.length === next.expectations.length
    ? next
    : { ...next, expectations };
}

function add(
  fold: OrderFold,
  fact: Exclude<Fact, ExpectationFact | WitnessRuleFact>,
): OrderFold {
  const activity = evolveActivity(fold.activity, fact);
  switch (fact.kind) {
    case "webhook":
      return addWebhook(fold, fact, activity);
    case "order_snapshot":
      return addSnapshot(fold, fact, activity);
    case "order_absent":
      return {
        ...fold,
        absentAt: laterTime(fold.absentAt, fact.readAt),
        activity,
      };
    case "order_contradicted":
      return {
        ...fold,
        contradicted: addContradiction(
          fold.contradicted,
          fact.status,
          fact.upTo,
        ),
        activity,
      };
    case "order_released":
      return {
        ...fold,
        ...evolveHand(fold, fact.hand),
        activity,
      };
    case "chain_reading":
      return {
        ...fold,
        looks: addChainReading(fold.looks, fact.look),
        activity,
      };
    case "unreadable":
      return { ...fold, activity };
    case "user_snapshot":
    case "delivery_unanswered":
    case "month_closed":
    case "note":
    case "person_erased":
      return fold;
    default:
      return fact satisfies never;
  }
}

function addWebhook(
  fold: OrderFold,
  fact: WebhookFact,
  activity: ActivityFold,
): OrderFold {
  return {
    ...fold,
    claims: fact.claim === null
      ? fold.claims
      : addClaim(fold.claims, fact.claim, fact.recordedAt, fact.body),
    transferSeen: fold.transferSeen || fact.label === "transfer_started",
    sessions: fact.sessionId === null
      ? fold.sessions
      : addSession(fold.sessions, fact.sessionId, fact.recordedAt),
    activity,
  };
}

function addSnapshot(
  fold: OrderFold,
  { reading }: OrderSnapshotFact,
  activity: ActivityFold,
): OrderFold {
  const { statusless } = fold;
  const shown = {
    ...fold,
    seenAt: laterTime(fold.seenAt, reading.readAt),
    createdAt: reading.createdAt === ""
      ? fold.createdAt
      : earlierTime(fold.createdAt, reading.createdAt),
    firstReadAt: earlierTime(fold.firstReadAt, reading.readAt),
    successReadAt: reading.status === "success"
      ? earlierTime(fold.successReadAt, reading.readAt)
      : fold.successReadAt,
    activity,
  };
  // Without a status it says nothing of the service's history, only of fields.
  if (reading.status === "") {
    return statusless === null || isReadLater(reading, statusless)
      ? { ...shown, statusless: reading }
      : shown;
  }
  const readings = addReading(fold, reading);
  return {
    ...shown,
    ...readings,
    latest: latestReading(readings),
    redacted: reading.match !== null &&
        (fold.redacted === null || isLater(reading, fold.redacted))
      ? reading
      : fold.redacted,
    observedStatuses: addObservedStatus(fold.observedStatuses, reading),
  };
}

/**
 * What was received about an order, and when. Unlike the state it grows with
 * each repeat; it does not depend on the order of arrival.
 */
export interface OrderActivity extends Activity {
  /** Every status webhooks claimed, by rank. */
  readonly claims: readonly {
    /** The claimed status. */
    readonly status: ClaimedStatus;
    /** When a webhook last claimed it, UTC ISO 8601 with milliseconds. */
    readonly lastRecordedAt: string;
    /** State of the claim. */
    readonly state: ClaimState;
  }[];
}

/** Shows the activity of an order to people. */
export function orderActivity(fold: OrderFold): OrderActivity {
  return {
    ...activityOf(fold.activity),
    claims: fold.claims.map((claim) => ({
      status: claim.status,
      lastRecordedAt: claim.lastAt,
      state: claimState(fold, claim),
    })),
  };
}
