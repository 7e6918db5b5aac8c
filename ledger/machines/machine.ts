import { isOneOf, recordBy } from "../../core/guards.ts";
import {
  ORDER_EVENT_TYPES,
  type OrderEventType,
  type VerificationState,
  WEBHOOK_TYPES,
  type WebhookType,
} from "../../core/webhook_event/webhook_event.ts";
import type {
  OrderStatus,
  VERIFICATION_STATUSES,
} from "../../core/wire/objects.ts";
import type { Entity, Status } from "./transition.ts";

/** Every kind of event, as keys. */
export const EVENT_KINDS = {
  webhook: true,
  order_snapshot: true,
  user_snapshot: true,
  order_absent: true,
  order_contradicted: true,
  session_created: true,
  order_expected: true,
  delivery_unanswered: true,
  order_released: true,
  chain_reading: true,
  witness_required: true,
  order_redacted: true,
  month_closed: true,
  note: true,
  person_erased: true,
} as const;

/**
 * What kind of fact an event records.
 *
 * - `webhook`: one delivery that arrived.
 * - `order_snapshot`, `user_snapshot`: a reading of the Data API that differs
 *   from the latest observation of that entity.
 * - `order_absent`: the service was asked, the walk was exhausted, and the
 *   order was not there.
 * - `order_contradicted`: the service was asked, and for ten minutes has not
 *   agreed with a claim.
 * - `session_created`: a session made by this partner; see
 *   `SessionCreatedBody`.
 * - `order_expected`: what the partner expects of an order, without a session;
 *   see `OrderExpectedBody`.
 * - `delivery_unanswered`: a delivery that was stored but answered late, with
 *   503, or not at all.
 * - `order_released`: a person delivered or refunded an order; see
 *   `OrderReleasedBody`.
 * - `chain_reading`: what the partner's own chain nodes showed of an order's
 *   transaction.
 * - `witness_required`: since when orders wait for the chain, or until when; see
 *   `WitnessRequiredBody`.
 * - `order_redacted`: what is kept of an erased reading or webhook of an
 *   order.
 * - `month_closed`: a month whose books this partner closed, with the files as
 *   they were then.
 * - `note`: what a person noted about something that waits; see `Note`.
 * - `person_erased`: which events say less since a person was erased, or bodies
 *   were pruned.
 */
export type EventKind = keyof typeof EVENT_KINDS;

export function isExpectationKind(
  kind: EventKind,
): kind is "session_created" | "order_expected" {
  return kind === "session_created" || kind === "order_expected";
}

/** How entries of a sorted list are ordered, and how equal ones are merged. */
interface ListRule<Entry> {
  /** Negative, zero or positive; zero for entries that are kept as one. */
  readonly compare: (a: Entry, b: Entry) => number;
  /** Makes one of two equal entries; without it the known one stays. */
  readonly merge?: (known: Entry, added: Entry) => Entry;
}

export function addSorted<Entry>(
  entries: readonly Entry[],
  added: Entry,
  { compare, merge = (known) => known }: ListRule<Entry>,
): readonly Entry[] {
  let at = 0;
  for (const known of entries) {
    const order = compare(known, added);
    if (order === 0) {
      const merged = merge(known, added);
      return merged === known ? entries : entries.with(at, merged);
    }
    if (order > 0) break;
    at++;
  }
  return entries.toSpliced(at, 0, added);
}

/**
 * Keeps all entries that this version knows and the first of the others, so
 * that a list stays bounded whatever is sent.
 */
export function boundUnknown<Entry>(
  entries: readonly Entry[],
  isKnown: (entry: Entry) => boolean,
  count: number,
): readonly Entry[] {
  const first = entries.findIndex((entry) => !isKnown(entry));
  return first === -1 || entries.length <= first + count
    ? entries
    : entries.slice(0, first + count);
}

/**
 * Orders two records by some of their fields, one after the other. Null comes
 * before every text.
 */
export function compareFields<Field extends string>(
  a: Readonly<Record<Field, string | null>>,
  b: Readonly<Record<Field, string | null>>,
  fields: readonly Field[],
): number {
  for (const field of fields) {
    const left = a[field];
    const right = b[field];
    if (left === right) continue;
    if (left === null) return -1;
    if (right === null) return 1;
    return compareText(left, right);
  }
  return 0;
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A state machine as data: the fold runs it, and documents and commands print
 * it. Every table is a full record.
 */
export interface Machine {
  /** Name of the machine, for example `order`. */
  readonly name: string;
  /** The documented states, the lowest rank first. */
  readonly states: Readonly<Record<string, StateRow>>;
  /** Any other state that the service may send. */
  readonly unlisted: StateRow;
  /** State while neither a reading nor a claim says one; always claimed. */
  readonly initial: string;
  /**
   * What each type of webhook claims: a state, the state that its body states
   * (`stated`), or nothing.
   */
  readonly webhooks: Readonly<Record<WebhookType, string | null>>;
  /** What each other kind of event contributes. */
  readonly observations: Readonly<
    Record<Exclude<EventKind, "webhook">, Observation>
  >;
  /**
   * By the latest reading (A), then by a claim that counts (W). The highest
   * claim that counts decides the state; each one can contest the reading. `none`
   * is no reading or no claim, `unlisted` a state that is not documented.
   */
  readonly decisions: Table<Decision>;
  /** By a reading, then by the next one in the service's own history. */
  readonly moves: Table<Move>;
}

type Table<
  Cell,
  Row extends string = string,
  Column extends string = Row,
> = Readonly<Record<Row, Readonly<Record<Column, Cell>>>>;

/** A state of a machine. */
export interface StateRow {
  /** Code of what it means; `resources/wording/` has the sentence. */
  readonly meaning: string;
  /** The higher claim counts; of two readings of one time, the higher. */
  readonly rank: number;
  /** Whether nothing but a later reading changes it. */
  readonly final: boolean;
}

/**
 * What an event other than a webhook contributes.
 *
 * - `reads`: a reading; the latest one is A.
 * - `absent`: the service was asked and does not show it; an anomaly only.
 * - `contradicts`: a claim received until then no longer counts.
 * - null: nothing.
 */
export type Observation = "reads" | "absent" | "contradicts" | null;

/**
 * Result of a reading (A) and a claim (W) together.
 *
 * - `reading`: the state is A, confirmed.
 * - `reading_contested`: the same, and an anomaly names the claim.
 * - `reading_in_doubt`: the same, and the service must be asked again.
 * - `claim`: the state is W, claimed.
 * - `initial`: the initial state, claimed.
 */
export type Decision =
  | "reading"
  | "reading_contested"
  | "reading_in_doubt"
  | "claim"
  | "initial";

/**
 * A move between two readings that follow each other. No move is refused: the
 * later reading counts, and an anomaly says that it is odd.
 */
export interface Move<Anomaly extends string = string> {
  /**
   * - `same`: the state stays.
   * - `usual`: the way the service describes; steps between may not be seen.
   * - `unusual`: the description does not mention it.
   * - `impossible`: it undoes what, by the description, has happened.
   */
  readonly kind: "same" | "usual" | "unusual" | "impossible";
  /** The anomaly that it raises; null for none. */
  readonly anomaly: Anomaly | null;
}

function tableOf<Row extends string, Column extends string, Cell>(
  rows: readonly Row[],
  columns: readonly Column[],
  cell: (row: Row, column: Column) => Cell,
): Record<Row, Record<Column, Cell>> {
  const rowOf = recordBy(columns);
  return recordBy(rows)((row) => rowOf((column) => cell(row, column)));
}

const byWebhook = recordBy(Object.keys(WEBHOOK_TYPES) as WebhookType[]);

/** What each kind of event but webhooks contributes; nothing where it is not said. */
function observationsOf(
  some: Partial<Record<EventKind, Observation>>,
): Machine["observations"] {
  const { webhook: _, ...kinds } = EVENT_KINDS;
  return recordBy(Object.keys(kinds) as (keyof typeof kinds)[])(
    (kind) => some[kind] ?? null,
  );
}

/** Finds the row of any state that the service may send. */
function finder(
  states: Readonly<Record<string, StateRow>>,
  unlisted: StateRow,
): (state: string) => StateRow {
  const rows = new Map(Object.entries(states));
  return (state) => rows.get(state) ?? unlisted;
}

const SAME: Move<never> = { kind: "same", anomaly: null };
const USUAL: Move<never> = { kind: "usual", anomaly: null };

/** A status that a webhook can claim. */
export type ClaimedStatus =
  | "progress"
  | "pending"
  | "failed"
  | "success"
  | "cancelled";

/** What a webhook claims; every other type claims nothing. */
const CLAIMS: Readonly<Record<OrderEventType, ClaimedStatus>> = {
  payment_started: "progress",
  transfer_started: "pending",
  order_complete: "success",
  order_failed: "failed",
  order_cancelled: "cancelled",
};

/** The kinds of anomaly that a move of an order raises. */
export type OrderMoveAnomaly =
  | "regression"
  | "final_changed"
  | "unrecognised_status";

const STATUSES: Readonly<Record<OrderStatus, StateRow>> = {
  created: { meaning: "payment_not_processed", rank: 0, final: false },
  progress: { meaning: "payment_not_completed", rank: 1, final: false },
  pending: { meaning: "not_yet_sent", rank: 2, final: false },
  failed: { meaning: "will_not_be_sent", rank: 3, final: true },
  success: { meaning: "sent", rank: 4, final: true },
  cancelled: { meaning: "cancelled_after_payment", rank: 5, final: true },
};
const UNLISTED_STATUS = { meaning: "unlisted_status", rank: 6, final: false };
const statusRow = finder(STATUSES, UNLISTED_STATUS);
const STATUS_NAMES = Object.keys(STATUSES) as OrderStatus[];

/** Ways back that no payment and no transfer can take. */
const IMPOSSIBLE: Readonly<Record<string, readonly string[]>> = {
  pending: ["created"],
  success: ["created", "progress", "pending", "failed"],
  cancelled: ["created", "progress"],
};

/** An open reading gives way to a higher claim; a final one is contested by another. */
function decideOrder(
  read: OrderStatus | "unlisted" | "none",
  claim: ClaimedStatus | "none",
): Decision {
  if (read === "none") return claim === "none" ? "initial" : "claim";
  if (claim === "none") return "reading";
  if (read === "unlisted" || isFinal(read)) {
    return isFinal(claim) && claim !== read ? "reading_contested" : "reading";
  }
  return orderRank(claim) > orderRank(read) ? "claim" : "reading";
}

/** A final status that changes is an anomaly, and so is a way back. */
function moveOrder(
  from: OrderStatus | "unlisted",
  to: OrderStatus | "unlisted",
): Move<OrderMoveAnomaly> {
  const kind = IMPOSSIBLE[from]?.includes(to) ? "impossible" : "unusual";
  if (from !== "unlisted" && from === to) return SAME;
  if (isFinal(from)) return { kind, anomaly: "final_changed" };
  if (to === "unlisted") return { kind, anomaly: "unrecognised_status" };
  return from === "unlisted" || orderRank(to) > orderRank(from)
    ? USUAL
    : { kind, anomaly: "regression" };
}

interface OrderMachine extends Machine {
  readonly states: Readonly<Record<OrderStatus, StateRow>>;
  readonly initial: "created";
  readonly webhooks: Readonly<Record<WebhookType, ClaimedStatus | null>>;
  readonly decisions: Table<
    Decision,
    OrderStatus | "unlisted" | "none",
    ClaimedStatus | "none"
  >;
  readonly moves: Table<Move<OrderMoveAnomaly>, OrderStatus | "unlisted">;
}

/**
 * The state machine of an order.
 *
 * Source: service interface, "Order status" and "Events". The service does not
 * say which moves there are: those here follow from what each status means.
 */
export const orderMachine: OrderMachine = {
  ...{ name: "order", states: STATUSES, unlisted: UNLISTED_STATUS },
  initial: "created",
  webhooks: byWebhook((type): ClaimedStatus | null =>
    isOneOf(ORDER_EVENT_TYPES, type) ? CLAIMS[type] : null
  ),
  observations: observationsOf({
    order_snapshot: "reads",
    order_absent: "absent",
    order_contradicted: "contradicts",
    order_redacted: "reads",
  }),
  decisions: tableOf(
    ["none", ...STATUS_NAMES, "unlisted"],
    ["none", ...STATUS_NAMES.filter((name) => name !== "created")],
    decideOrder,
  ),
  moves: tableOf(
    [...STATUS_NAMES, "unlisted"],
    [...STATUS_NAMES, "unlisted"],
    moveOrder,
  ),
};

/** created < progress < pending < failed < success < cancelled < any other: 0 to 6. */
export function orderRank(status: Status): number {
  return statusRow(status).rank;
}

/** Whether nothing but a later reading changes the status: of one not known, never. */
export function isFinal(status: Status): boolean {
  return statusRow(status).final;
}

/** Whether the status is documented. */
export function isKnown(status: Status): status is OrderStatus {
  return statusRow(status) !== UNLISTED_STATUS;
}

/**
 * Reads a status as sent: documented ones whatever their case, and `canceled`
 * with one l, as the service itself is seen to mix; others are kept.
 */
export function normaliseStatus(text: string): Status {
  const lower = text.trim().toLowerCase();
  if (lower === "canceled") return "cancelled";
  return isKnown(lower) ? lower : text;
}

/** A documented state of a light or document verification. */
export type VerificationName = (typeof VERIFICATION_STATUSES)[number];

const VERIFICATIONS: Readonly<Record<VerificationName, StateRow>> = {
  "not initiated": { meaning: "not_begun", rank: 0, final: false },
  initiated: { meaning: "begun", rank: 1, final: false },
  progress: { meaning: "under_review", rank: 2, final: false },
  retry: { meaning: "documents_wanted", rank: 3, final: false },
  failed: { meaning: "not_passed", rank: 4, final: true },
  success: { meaning: "passed", rank: 5, final: true },
};

const UNLISTED_STATE = { meaning: "unlisted_state", rank: 6, final: false };
const VERIFICATION_NAMES = [
  ...Object.keys(VERIFICATIONS) as VerificationName[],
  "unlisted",
] as const;

/**
 * not initiated < initiated < progress < retry < failed < success < other. After a
 * final one no further step of the user is expected.
 */
export const verificationRow: (state: VerificationState) => StateRow = finder(
  VERIFICATIONS,
  UNLISTED_STATE,
);

export function isKnownVerification(
  state: VerificationState,
): state is VerificationName {
  return verificationRow(state) !== UNLISTED_STATE;
}

/** A claim received after the reading that ranks no higher: ask again. */
function decideVerification(
  read: VerificationName | "unlisted" | "none",
  claim: VerificationName | "unlisted" | "none",
): Decision {
  if (read === "none") return claim === "none" ? "initial" : "claim";
  if (claim === "none") return "reading";
  if (read === claim && read !== "unlisted") return "reading";
  return verificationRow(claim).rank > verificationRow(read).rank
    ? "claim"
    : "reading_in_doubt";
}

/**
 * A success that is taken back, and a verification that had begun and is not
 * initiated again, are anomalies. After a failure or a demand for documents the user
 * may begin again.
 */
function moveVerification(
  from: string,
  to: string,
): Move<"verification_reversed"> {
  if (from === to && from !== "unlisted") return SAME;
  return from === "success" || to === "not initiated"
    ? { kind: "unusual", anomaly: "verification_reversed" }
    : USUAL;
}

/**
 * Source: service interface, "Verification state" and "Events". The service does not
 * say which moves there are: those here follow from what each state means.
 */
function verificationMachine(name: "lkyc" | "fkyc"): VerificationMachine {
  const names = VERIFICATION_NAMES;
  const all = ["none", ...names] as const;
  return {
    ...{ name, states: VERIFICATIONS, unlisted: UNLISTED_STATE },
    initial: "unknown",
    // Every event with a user object states both verifications.
    webhooks: byWebhook((type) =>
      type === "otp_status" || type === "test" ? null : "stated"
    ),
    observations: observationsOf({ user_snapshot: "reads" }),
    decisions: tableOf(all, all, decideVerification),
    moves: tableOf(names, names, moveVerification),
  };
}

/** Of the light verification, without documents, or of the one with them. */
export interface VerificationMachine extends Machine {
  readonly name: "lkyc" | "fkyc";
  readonly decisions: Table<Decision, VerificationName | "unlisted" | "none">;
  readonly moves: Table<
    Move<"verification_reversed">,
    VerificationName | "unlisted"
  >;
}

/** The state machine of the light verification: without documents. */
export const lkycMachine: VerificationMachine = verificationMachine("lkyc");

/** The state machine of the document verification. */
export const fkycMachine: VerificationMachine = verificationMachine("fkyc");

/** Whether the service has banned a user. */
export type BanName = "not_banned" | "banned";

const BANS = ["not_banned", "banned", "unlisted"] as const;

/**
 * The state machine of the ban of a user. Only readings speak of it.
 *
 * Source: service interface, "User (Data API)".
 */
export const banMachine: Machine = {
  name: "ban",
  states: {
    not_banned: { meaning: "may_buy", rank: 0, final: false },
    banned: { meaning: "may_not_buy", rank: 1, final: false },
  },
  unlisted: { ...UNLISTED_STATE, rank: 2 },
  initial: "unknown",
  webhooks: byWebhook(() => null),
  observations: observationsOf({ user_snapshot: "reads" }),
  decisions: tableOf(
    ["none", ...BANS],
    ["none"],
    (read): Decision => read === "none" ? "initial" : "reading",
  ),
  moves: tableOf(
    BANS,
    BANS,
    (from, to) => from === to && from !== "unlisted" ? SAME : USUAL,
  ),
};

/** The state machines of orders and of users, in the order of reading. */
export const MACHINES: Readonly<Record<Entity, readonly Machine[]>> = {
  order: [orderMachine],
  user: [lkycMachine, fkycMachine, banMachine],
};
