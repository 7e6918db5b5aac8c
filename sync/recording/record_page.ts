import type { Order } from "../../core/wire/order.ts";
import type { User } from "../../core/wire/user.ts";
import { deleteRead, type Entity } from "../../ledger/for_sync.ts";
import type { Recorder } from "./recorder.ts";
import type { ListPage } from "../walk/service_lists.ts";
import type { WalkContext } from "../walk/walk_range.ts";

/** One answer of the service, as the poller's report counts it. */
export interface SweepRead {
  /** Orders in the answer. */
  readonly orders: number;
  /** Users in the answer. */
  readonly users: number;
  /** Events appended. */
  readonly appended: number;
}

/** What records a page, and what is called afterwards. */
export interface PageRecording {
  /** Writes what was read. */
  readonly recorder: Recorder;
  /** Called with every reading. */
  readonly onRead: (read: SweepRead) => void;
}

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
  context: PageRecording,
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
  const ids = page.data.map((row) => idOf(entity, row));
  const { appended, changed } = await context.recorder.record(
    entity,
    answer,
    ids.length === 0 ? [] : [deleteRead(entity, ids, requestedAtMs)],
  );
  if (page.withoutData !== undefined) {
    await context.recorder.recordDrift([
      `${entity}s.data is ${page.withoutData}`,
    ]);
  }
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
  context: Omit<WalkContext, "onPage"> & PageRecording,
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
