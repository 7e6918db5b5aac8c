import {
  WEBHOOK_TYPES,
  type WebhookType,
} from "../../core/webhook_event/event_types.ts";

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

/** Whether events of a kind say what the partner expects of an order. */
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

/** Adds an entry to a sorted list in which no two entries are equal. */
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

/** Orders two texts by their code units. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A state machine as data: the fold runs it, and documents and commands print
 * it.
 *
 * `State` are the states that the service documents, `Claim` what a webhook can
 * claim, `Anomaly` the kinds of anomaly that its moves raise. Every table is a
 * full record.
 */
export interface Machine<
  State extends string = string,
  Claim extends string = string,
  Anomaly extends string = string,
> {
  /** Name of the machine, for example `order`. */
  readonly name: string;
  /** The documented states, the lowest rank first. */
  readonly states: Readonly<Record<State, StateRow>>;
  /** Any other state that the service may send. */
  readonly unlisted: StateRow;
  /** State while neither a reading nor a claim says one; always claimed. */
  readonly initial: string;
  /** What each type of webhook contributes. */
  readonly webhooks: Readonly<Record<WebhookType, Contribution<Claim>>>;
  /** What each other kind of event contributes. */
  readonly observations: Readonly<
    Record<Exclude<EventKind, "webhook">, Observation>
  >;
  /**
   * By the latest reading (A), then by a claim that counts (W). The highest
   * claim that counts decides the state; each one can contest the reading.
   */
  readonly decisions: Readonly<
    Record<State | Outside, Readonly<Record<Claim | "none", Decision>>>
  >;
  /** By a reading, then by the next one in the service's own history. */
  readonly moves: Readonly<
    Record<
      State | "unlisted",
      Readonly<Record<State | "unlisted", Move<Anomaly>>>
    >
  >;
}

/**
 * What A can be beside a documented state: a state that is not documented, or
 * `none` while no reading shows one.
 */
export type Outside = "unlisted" | "none";

/** A state of a machine. */
export interface StateRow<Meaning extends string = string> {
  /** Code of what it means; `resources/wording/` has the sentence. */
  readonly meaning: Meaning;
  /** The higher claim counts; of two readings of one time, the higher. */
  readonly rank: number;
  /** Whether nothing but a later reading changes it. */
  readonly final: boolean;
}

/**
 * What a webhook claims: a state, the state that its body states (`stated`),
 * or nothing.
 */
type Contribution<Claim extends string> = Claim | "stated" | null;

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

/** A record of every key. */
export function recordOf<Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Record<Key, Value> {
  const entries = keys.map((key) => [key, value(key)]);
  return Object.fromEntries(entries) as Record<Key, Value>;
}

/** A table whose cells follow from a rule. */
export function tableOf<Row extends string, Column extends string, Cell>(
  rows: readonly Row[],
  columns: readonly Column[],
  cell: (row: Row, column: Column) => Cell,
): Record<Row, Record<Column, Cell>> {
  return recordOf(
    rows,
    (row) => recordOf(columns, (column) => cell(row, column)),
  );
}

/** Every documented type of webhook. */
export const WEBHOOKS = Object.keys(WEBHOOK_TYPES) as readonly WebhookType[];

/** What each kind of event but webhooks contributes; nothing where it is not said. */
export function observationsOf(
  some: Partial<Record<EventKind, Observation>>,
): Machine["observations"] {
  const kinds = Object.keys(EVENT_KINDS) as EventKind[];
  return recordOf(
    kinds.filter((kind) => kind !== "webhook"),
    (kind) => some[kind] ?? null,
  );
}

/** The move of a state that stays. */
export const SAME: Move<never> = { kind: "same", anomaly: null };

/** A move that the service describes. */
export const USUAL: Move<never> = { kind: "usual", anomaly: null };
