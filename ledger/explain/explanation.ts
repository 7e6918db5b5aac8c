import type { OrderContext } from "../attention/attention.ts";
import type { Anomaly } from "../anomalies/anomaly.ts";
import type { ActivityLabel } from "../events/fact.ts";
import type { OrderState } from "../states/order_state.ts";
import type { ExplainedMove } from "./explained_move.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { EffectReason, EventContent } from "./effect.ts";

/** Why the state of an order is what it is, event by event. */
export interface Explanation {
  /** Order identifier. */
  readonly orderId: string;
  /** The state that the events lead to. */
  readonly state: OrderState;
  /**
   * What was known beside the state.
   *
   * @default {a ledger that compares, and no other order}
   */
  readonly context?: OrderContext;
  /**
   * The events of the order, by position. Of what is too much, the later events
   * are left out.
   */
  readonly events: readonly ExplainedEvent[];
  /** How many events are left out: anybody can send webhooks without end. */
  readonly leftOut: number;
  /** Where each field of the state that has a value comes from. */
  readonly fields: readonly ExplainedField[];
}

/** What one event did to the state. */
export interface ExplainedEvent {
  /** Place in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
  /** Kind of fact. */
  readonly kind: EventKind;
  /** What it is counted as. */
  readonly label: ActivityLabel;
  /** When this ledger learnt it, UTC ISO 8601 with milliseconds. */
  readonly recordedAt: string;
  /** What it says. */
  readonly content: EventContent;
  /**
   * - `changed`: it changed the visible state; see `changes`.
   * - `noted`: it changed only what was heard (`history`, `sessions`), on which
   *   nothing depends: a late webhook, for example.
   * - `unchanged`: it changed nothing at all.
   */
  readonly effect: "changed" | "noted" | "unchanged";
  /**
   * The move that it made on the state machine of the order; null where status,
   * trust and latest reading stay.
   */
  readonly move: ExplainedMove | null;
  /** What changed; empty where `effect` is `unchanged`. */
  readonly changes: readonly FieldChange[];
  /** Why the effect is what it is. */
  readonly why: EffectReason;
}

/** The value of a field of the visible state: text, or an anomaly. */
export type FieldValue = string | Anomaly;

/** A change of one field of the visible state. */
export interface FieldChange {
  /** Field, dotted inside objects: `fees.partnerFee`. */
  readonly field: string;
  /** Value before; null is none. */
  readonly before: FieldValue | null;
  /** Value after; null is none. */
  readonly after: FieldValue | null;
}

/** Where a field of the state comes from. */
export interface ExplainedField {
  /** Field, dotted inside objects. */
  readonly field: string;
  /** Value. */
  readonly value: FieldValue;
  /** What kind of source it is. */
  readonly source: "snapshot" | "webhook" | "session";
  /** Place of the event in the ledger. */
  readonly position: number;
  /** Identifier of the event. */
  readonly eventId: string;
}
