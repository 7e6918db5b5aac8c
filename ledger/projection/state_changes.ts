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
  before: string | null,
  after: string | null,
): StateDifference[] {
  if (before === after) return [];
  const was = flat(before);
  const is = flat(after);
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((field) => was.get(field) !== is.get(field))
    .map((field) => ({
      field,
      before: was.get(field) ?? null,
      after: is.get(field) ?? null,
    }));
}

function flat(json: string | null): Map<string, string> {
  const fields = new Map<string, string>();
  if (json !== null) flatten("", JSON.parse(json), fields);
  return fields;
}

function flatten(
  field: string,
  value: unknown,
  fields: Map<string, string>,
): void {
  if (value === null || value === undefined) return;
  if (typeof value !== "object") {
    fields.set(field, String(value));
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    flatten(field === "" ? key : `${field}.${key}`, inner, fields);
  }
}
