import type { Order } from "../../../core/wire/order.ts";
import type { User } from "../../../core/wire/user.ts";
import type { Entity } from "../../entity.ts";
import { deleteRead } from "../../store/tables/polling/queued_requests.ts";
import type { SweepContext } from "../sweeps/sweep_context.ts";
import type { ListPage } from "../walk/service_lists.ts";
import type { WalkContext } from "../walk/walk_window.ts";

/**
 * Records a page, and takes what it shows out of the queue of webhooks.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param page The page.
 * @param requestedAtMs When it was requested, in milliseconds since the epoch.
 * @returns Ids that differ from the reading before.
 */
export async function recordPage(
  context: Pick<SweepContext, "recorder" | "onRead">,
  entity: Entity,
  page: ListPage,
  requestedAtMs: number,
): Promise<readonly string[]> {
  const answer = {
    sources: page.sources,
    states: page.data.map((row) => {
      const order = entity === "order" ? row as Order : null;
      return {
        status: order?.status ?? null,
        changedAt: order?.changed_at ?? null,
      };
    }),
    missing: [],
    readAt: page.readAt,
    requestedAtMs,
  };
  const { appended, changed } = await context.recorder.record(entity, answer, [
    deleteRead(
      entity,
      page.data.map((row) => idOf(entity, row)),
      requestedAtMs,
    ),
  ]);
  const read = page.data.length;
  context.onRead({
    orders: entity === "order" ? read : 0,
    users: entity === "user" ? read : 0,
    appended,
  });
  return changed;
}

/** The context of a walk that records every page. */
export function recordingWalk(
  context: SweepContext,
  entity: Entity,
): WalkContext {
  return {
    ...context,
    onPage: (page, requestedAtMs) =>
      recordPage(context, entity, page, requestedAtMs),
  };
}

/** Identifier of a row of either list. */
export function idOf(entity: Entity, row: Order | User): string {
  return entity === "order" ? (row as Order).order_id : (row as User).user_id;
}
