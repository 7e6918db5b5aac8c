import type { Statement } from "../store/driver.ts";
import { askById, isAskable } from "./ask_by_id.ts";
import type { Entity } from "./observations.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import type { Sweep, SweepContext } from "./sweep.ts";

/** An order or user that a webhook named. */
interface Wanted {
  readonly entityId: string;
  readonly wantedAt: string;
}

/**
 * Asks for the orders and users that webhooks named, oldest first, 20 at a
 * time, until each that waits has been asked for once. A want that grows
 * younger while it is asked for stays in the queue.
 *
 * @param context What to work with.
 *
 * @example Run it to its end
 * ```ts ignore
 * for await (const requests of sweepConfirm(context)) count += requests;
 * ```
 */
export async function* sweepConfirm(context: SweepContext): Sweep {
  for (const entity of ["order", "user"] as const) {
    const until = await lastWanted(context, entity);
    if (until === null) continue;
    for (;;) {
      const wanted = await readWanted(context, entity, until);
      if (wanted.length === 0) break;
      const done = wanted.map((one) => forget(entity, one));
      const ids = wanted.map((one) => one.entityId).filter(isAskable);
      if (ids.length === 0) {
        await context.recorder.write(done);
        continue;
      }
      yield* askById(context, entity, ids, () => done);
    }
  }
}

/** The youngest want; what is wanted again later waits for the next run. */
async function lastWanted(
  { driver }: SweepContext,
  entity: Entity,
): Promise<string | null> {
  const [found] = await driver.batch([{
    sql: "SELECT max(wanted_at) FROM confirm_queue WHERE entity = ?",
    args: [entity],
  }], "read");
  const last = found?.rows[0]?.[0];
  return typeof last === "string" ? last : null;
}

async function readWanted(
  { driver }: SweepContext,
  entity: Entity,
  until: string,
): Promise<Wanted[]> {
  const [found] = await driver.batch([{
    sql: `SELECT entity_id, wanted_at FROM confirm_queue
      WHERE entity = ? AND wanted_at <= ?
      ORDER BY wanted_at LIMIT ?`,
    args: [entity, until, ITEMS_PER_REQUEST],
  }], "read");
  return (found?.rows ?? []).map((row) => ({
    entityId: String(row[0]),
    wantedAt: String(row[1]),
  }));
}

function forget(entity: Entity, { entityId, wantedAt }: Wanted): Statement {
  return {
    sql: `DELETE FROM confirm_queue
      WHERE entity = ? AND entity_id = ? AND wanted_at <= ?`,
    args: [entity, entityId, wantedAt],
  };
}
