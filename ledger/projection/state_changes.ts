/** Which fields of states differ. */
import type { Entity } from "../machines/transition.ts";

/** An order or user whose state a refold changes. */
export interface StateChange {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** What differs. */
  readonly fields: readonly StateDifference[];
}

/** One field that differs between two states. */
export interface StateDifference {
  /** Field, dotted inside objects: `fees.partnerFee`, `anomalies.0.kind`. */
  readonly field: string;
  /** Value before, as text; null when there was none. */
  readonly before: string | null;
  /** Value after, as text; null when there is none. */
  readonly after: string | null;
}

/**
 * Compares two states field by field. Null, an empty list and a missing field
 * are the same: nothing.
 */
export function diffStates(
  before: unknown,
  after: unknown,
): StateDifference[] {
  const was = new Map(flat("", before));
  const is = new Map(flat("", after));
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => was.get(field) !== is.get(field))
    .map((field) => ({
      field,
      before: was.get(field) ?? null,
      after: is.get(field) ?? null,
    }));
}

function flat(field: string, value: unknown): [string, string][] {
  if (value === null || value === undefined) return [];
  if (typeof value !== "object") return [[field, String(value)]];
  return Object.entries(value).flatMap(([key, inner]) =>
    flat(field === "" ? key : `${field}.${key}`, inner)
  );
}
