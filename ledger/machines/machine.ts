import {
  WEBHOOK_TYPES,
  type WebhookType,
} from "../../core/webhook_event/event_types.ts";
import { EVENT_KINDS, type EventKind } from "./event_kind.ts";

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
export type Contribution<Claim extends string> = Claim | "stated" | null;

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
