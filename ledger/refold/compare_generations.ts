import type { Driver } from "../store/driver/driver.ts";
import {
  type Checkpoints,
  checkpointsOf,
  selectCheckpoints,
} from "../store/tables/checkpoints.ts";
import { selectDifferences } from "../store/tables/generations.ts";
import { diffStates, type StateDifference } from "./state_diff.ts";
import type { Entity } from "../machines/entity.ts";

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
    fields: diffStates(was as string | null, is as string | null),
  })).filter(({ fields }) => fields.length > 0) ?? [];
  return {
    checkpoints: checkpointsOf(checkpoints),
    changes,
    last: end?.rows[0]?.[0] as string | null ?? null,
  };
}
