/** What follows from a fold: its status, the claims that count, and what is shown. */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type ClaimBody,
  type ClaimField,
  emptyToNull,
  factsBy,
  type OrderFacts,
} from "../events/event.ts";
import { compareTimes } from "../events/time.ts";
import type { OrderReading } from "../events/readings.ts";
import {
  type ClaimedStatus,
  type Decision,
  isFinal,
  isKnown,
  type Move,
  orderMachine,
  type OrderMoveAnomaly,
} from "../machines/machine.ts";
import type { Status, Trust } from "../machines/transition.ts";
import {
  type Activity,
  activityOf,
  type Claim,
  type OrderFold,
} from "./order_fold.ts";

/** Shortest pause between two requests of an open order, in milliseconds. */
const OPEN_AT_LEAST_MS = 20_000;

/** Longest pause between two requests of an open order, in milliseconds. */
export const OPEN_AT_MOST_MS = 24 * 3_600_000;

/**
 * How long to wait before an open order is requested again: a sixth of the time
 * since it last changed. So an order that changes is read often, and one that was
 * abandoned last year once a day.
 */
export function requestAgainAfterMs(stillMs: number): number {
  const pauseMs = Math.max(OPEN_AT_LEAST_MS, Math.floor(stillMs / 6));
  return Math.min(OPEN_AT_MOST_MS, pauseMs);
}

/**
 * How long after an order became final it is read again, in milliseconds: a
 * payment that is taken back must not wait for the sweep through the past.
 */
export const FINAL_READS_AFTER_MS: readonly number[] = [10, 60, 360, 1440, 4320]
  .map((minutes) => minutes * 60_000);

export function nextFinalReadMs(finalMs: number, nowMs: number): number | null {
  const after = FINAL_READS_AFTER_MS.find((ms) => finalMs + ms > nowMs);
  return after === undefined ? null : finalMs + after;
}

export interface StatusFacts extends Pick<OrderFold, "contradicted"> {
  readonly latest: HasStatus | null;
  /** By rank, as the others. */
  readonly claims: readonly Omit<Claim, "bodies">[];
  readonly observedStatuses: readonly HasStatus[];
}

type HasStatus = { readonly status: Status };

/**
 * State of a claim:
 *
 * - `counted`: neither observed nor contradicted.
 * - `observed`: a reading has shown this status, so the claim
 *   is used up, and a repeat of it changes nothing.
 * - `contradicted`: the service was asked and did not agree, and the claim has
 *   not been received again since.
 */
export type ClaimState = "counted" | "observed" | "contradicted";

export function claimState(
  { observedStatuses, contradicted }: StatusFacts,
  { status, lastAt }: StatusFacts["claims"][number],
): ClaimState {
  if (observedStatuses.some((one) => one.status === status)) return "observed";
  return contradicted.some((one) =>
      one.status === status && compareTimes(lastAt, one.upTo) <= 0
    )
    ? "contradicted"
    : "counted";
}

function countedClaims(facts: StatusFacts): ClaimedStatus[] {
  return facts.claims.filter((claim) => claimState(facts, claim) === "counted")
    .map(({ status }) => status);
}

/** W, the highest claim that counts. */
export function highestClaim(facts: StatusFacts): ClaimedStatus | null {
  return countedClaims(facts).at(-1) ?? null;
}

/** A status and how sure it is. */
export interface DecidedStatus {
  /** The status. */
  readonly status: Status;
  /** Whether it is confirmed by the service. */
  readonly trust: Trust;
}

/**
 * The status of an order by the table of {@linkcode orderMachine}, which says:
 *
 * 1. The latest snapshot A is final or unknown: A, confirmed.
 * 2. A is not final, and the highest counting claim W ranks higher: W, claimed.
 * 3. Otherwise A, confirmed.
 * 4. No A: W, claimed.
 * 5. Neither: `created`, claimed.
 *
 * So a late or repeated webhook never takes a state back, a confirmed final status
 * changes only by a later snapshot, and a forged claim is never confirmed.
 */
export function decideOrderStatus(facts: StatusFacts): DecidedStatus {
  const read = facts.latest?.status ?? null;
  const claim = highestClaim(facts);
  const { initial } = orderMachine;
  const decision = orderDecision(read, claim);
  return decision === "claim" || decision === "initial"
    ? { status: claim ?? initial, trust: "claimed" }
    : { status: read ?? initial, trust: "confirmed" };
}

/** Final statuses of counting claims that contest a final or unknown A. */
export function contestingClaims(facts: StatusFacts): ClaimedStatus[] {
  const read = facts.latest?.status ?? null;
  return countedClaims(facts).filter((status) =>
    orderDecision(read, status) === "reading_contested"
  );
}

/** What the table of the machine says of a reading (A) and a claim (W). */
export function orderDecision(
  read: Status | null,
  claimed: ClaimedStatus | null,
): Decision {
  const row = read === null ? "none" : rowOf(read);
  return orderMachine.decisions[row][claimed ?? "none"];
}

/**
 * What the table of the machine says of two statuses that follow each other in the
 * service's own history.
 */
export function orderMove(from: Status, to: Status): Move<OrderMoveAnomaly> {
  const [row, column] = [rowOf(from), rowOf(to)];
  // The row of unlisted statuses is about two of them.
  return row === "unlisted" && from === to
    ? { kind: "same", anomaly: null }
    : orderMachine.moves[row][column];
}

function rowOf(status: Status): keyof typeof orderMachine.moves {
  return isKnown(status) ? status : "unlisted";
}

/**
 * Final statuses that readings have shown besides that of the latest: the
 * service has taken a final status back.
 */
export function otherFinals(
  { latest, observedStatuses }: Omit<StatusFacts, "claims" | "contradicted">,
): Status[] {
  return observedStatuses.map(({ status }) => status).filter((status) =>
    latest !== null &&
    orderMove(status, latest.status).anomaly === "final_changed"
  );
}

/**
 * The reading whose fields an order shows: A, or one without a status where no
 * other is known.
 */
export function visibleReading(
  { latest, statusless }: Pick<OrderFold, "latest" | "statusless">,
): OrderReading | null {
  return latest ?? statusless;
}

export function readingFacts(latest: OrderReading): OrderFacts {
  return factsBy((field) => emptyToNull(latest[field]));
}

/** How to work out a state. */
export interface ResolveOptions {
  /**
   * Asset table that gives the precision of amounts.
   *
   * @default {"production"}
   */
  readonly assets?: AssetTable;
}

export interface Resolved {
  readonly decided: DecidedStatus;
  /** Claims that are not contradicted, highest first. */
  readonly claims: readonly Claim[];
  /** Fields as shown in the state. */
  readonly fields: OrderFacts;
  readonly assets: AssetTable;
}

export function resolveOrder(
  fold: OrderFold,
  { assets = "production" }: ResolveOptions = {},
): Resolved {
  const claims = fold.claims.filter((claim) =>
    claimState(fold, claim) !== "contradicted"
  ).reverse();
  const shown = visibleReading(fold);
  const fields = factsBy((field) =>
    // The reading's value where it states one, else the claim's.
    shown?.[field] ||
    (field === "network" || saysNone(shown, field)
      ? null
      : claimedValue(claims, field))
  );
  return { decided: decideOrderStatus(fold), claims, fields, assets };
}

export function claimedValue(
  claims: readonly Claim[],
  field: ClaimField,
): string | null {
  return claimedBody(claims, field)?.[field] ?? null;
}

/** The highest claim's highest webhook body that states a field. */
export function claimedBody(
  claims: readonly Claim[],
  field: ClaimField,
): ClaimBody | undefined {
  for (const { bodies } of claims) {
    const body = bodies.find((body) => body[field] !== null);
    if (body !== undefined) return body;
  }
  return undefined;
}

/**
 * Whether an empty field of a final reading means that there is no value. Then
 * no webhook may fill it: a failed order must not show a forged transaction,
 * and a paid order must not show a forged decline.
 */
function saysNone(
  shown: OrderReading | null,
  field: keyof OrderFacts,
): boolean {
  return shown !== null && isFinal(shown.status) && shown[field] === "" &&
    (field === "txId" ||
      (field === "failReason" && shown.status !== "failed"));
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
