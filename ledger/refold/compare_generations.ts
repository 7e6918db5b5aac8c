import type { Driver } from "../store/driver/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectDifferences } from "../store/tables/generations.ts";
import type { Entity } from "../machines/transition.ts";
import { canonicalOrder } from "../projection/codec/fold_codec.ts";
import { readOrderState } from "../projection/codec/stored_state.ts";

/** An order or user whose state differs between two generations. */
export interface StateChange {
  /** Whether it is an order or a user. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** What differs. */
  readonly fields: readonly StateDifference[];
}

/** One page of a comparison. */
export interface ComparedPage {
  /** The checkpoints, as of the same moment as the states. */
  readonly checkpoints: Checkpoints;
  /** Entities that differ. */
  readonly changes: readonly StateChange[];
  /** Last id compared; null when everything has been. */
  readonly last: string | null;
}

/**
 * Compares the states of two generations, one page of ids. The database
 * compares them, because nearly all are the same and need not be read.
 *
 * @param what Which entities of which generations, after which id.
 */
export async function compareGenerations(
  driver: Driver,
  what: {
    readonly entity: Entity;
    readonly before: number;
    readonly after: number;
    readonly afterId: string;
    readonly limit?: number;
  },
): Promise<ComparedPage> {
  const { entity, before, after, afterId, limit = 2000 } = what;
  const [checkpoints, end, different] = await driver.batch([
    selectCheckpoints,
    ...selectDifferences(entity, { before, after, afterId, limit }),
  ], "read");
  const changes = different?.rows.map(([id, was, is]) => ({
    entity,
    id: id as string,
    fields: diffStates(
      canonical(entity, was as string | null),
      canonical(entity, is as string | null),
    ),
  })).filter(({ fields }) => fields.length > 0) ?? [];
  return {
    checkpoints: checkpointsOf(checkpoints),
    changes,
    last: end?.rows[0]?.[0] as string | null ?? null,
  };
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
 *
 * @param before State as JSON; null when there was none.
 * @param after State as JSON; null when there is none.
 * @returns The fields that differ, in the order of the states.
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

function canonical(entity: Entity, stored: string | null): string | null {
  return stored === null || entity === "user"
    ? stored
    : canonicalOrder(readOrderState(stored));
}
