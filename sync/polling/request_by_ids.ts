import type { Entity, Statement } from "../../ledger/for_sync.ts";
import { recordPage } from "../recording/record_page.ts";
import { readPages } from "../walk/walk_range.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { Steps } from "../walk/steps.ts";
import { callOptions, type ListPage } from "../walk/service_lists.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";

/** What the service said about the ids of a request. */
export interface IdsAnswer {
  /** Status of each order it showed, as sent; null if unread, and of users. */
  readonly statuses: ReadonlyMap<string, string | null>;
  /** When the first page was requested, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  /** When the service answered last, UTC ISO 8601. */
  readonly readAt: string;
  /** Whether the walk reached its end: what was not shown is not there. */
  readonly exhausted: boolean;
  /**
   * Whether the answer speaks against claims about an order that it does not
   * show: it is exhausted, or shows only orders that have the one requested id
   * as click id or external id. Such orders are younger than an order of that
   * id would be, and the oldest come first.
   */
  readonly denies: boolean;
  /** Ids that need no further request now. */
  readonly settled: readonly string[];
  /**
   * Ids about which the answer is not conclusive: it holds more orders than
   * were requested, because an id may be the click id of a thousand, or rows
   * without identifier, each of which may be the requested one.
   */
  readonly unresolved: readonly string[];
  /** Whether the answer holds rows without identifier. */
  readonly hasRowsWithoutId: boolean;
  /** Requested ids that other orders have as click id or external id. */
  readonly sharedIds: ReadonlySet<string>;
  /** Ids whose reading differs from the one before. */
  readonly changed: ReadonlySet<string>;
}

/** Pages of one request at most: the second may be short, or empty. */
const pagesAtMost = 3;

/**
 * Requests orders or users by id and records what comes back; what an
 * exhausted walk did not show is recorded as absent.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param ids At most 20 of them, all `isRequestable`.
 * @param finish Makes statements for the batch that ends the work.
 * @throws {RangeError} When there are more than 20 ids, or none.
 *
 * @example Request two orders
 * ```ts ignore
 * const answer = yield* requestByIds(context, "order", ["01J…", "01K…"]);
 * ```
 */
export async function* requestByIds(
  context: SweepContext,
  entity: Entity,
  ids: readonly string[],
  finish: (answer: IdsAnswer) => readonly Statement[] = () => [],
): Steps<IdsAnswer> {
  if (ids.length === 0 || ids.length > ITEMS_PER_REQUEST) {
    throw new RangeError(
      `Cannot request ${ids.length} ids at once: 1 to ${ITEMS_PER_REQUEST} fit a request`,
    );
  }
  const requestedAtMs = context.now();
  const statuses = new Map<string, string | null>();
  const changed = new Set<string>();
  const sharedIds = new Set<string>();
  let readAt = new Date(requestedAtMs).toISOString();
  let exhausted = true;
  let crowd = false;
  let onlyShared = true;
  let hasRowsWithoutId = false;
  const onPage = async (page: ListPage, requestedAtMs: number) => {
    const ids = await recordPage(context, entity, page, requestedAtMs);
    for (const id of ids) changed.add(id);
  };
  if (entity === "order") {
    const walk = context.client.orders.list(
      // Oldest first: an order is older than those that have its id as click id.
      { search_by: ids, limit: ITEMS_PER_REQUEST, order_by: "asc" },
      callOptions(context),
    );
    let pages = 0;
    for await (const page of readPages(context, walk, onPage)) {
      for (const order of page.data) {
        statuses.set(order.order_id, order.status);
        if (ids.includes(order.order_id)) continue;
        const shared = [order.click_id, order.external_order_id]
          .filter((id) => typeof id === "string" && ids.includes(id));
        if (shared.length === 0) onlyShared = false;
        for (const id of shared) sharedIds.add(String(id));
      }
      readAt = page.readAt;
      pages += 1;
      yield 1;
      if (ids.every((id) => statuses.has(id))) break;
      crowd = statuses.size > ids.length || statuses.size >= ITEMS_PER_REQUEST;
      hasRowsWithoutId ||= page.rowsWithoutId.length > 0;
      if (crowd || pages >= pagesAtMost) break;
    }
    exhausted = walk.completeness.exhausted;
  } else {
    // Ids are distinct, so one page holds all that the service knows.
    const page = await context.client.users.page(
      { user_ids: ids, limit: ITEMS_PER_REQUEST },
      callOptions(context),
    );
    await onPage(page, requestedAtMs);
    for (const user of page.data) statuses.set(user.user_id, null);
    readAt = page.readAt;
    exhausted = page.rowsWithoutId.length === 0;
    yield 1;
  }
  const left = ids.filter((id) => !statuses.has(id));
  const unresolved = (crowd || hasRowsWithoutId) && !exhausted ? left : [];
  const settled = unresolved.length === 0
    ? ids
    : ids.filter((id) => statuses.has(id));
  const answer: IdsAnswer = {
    statuses,
    requestedAtMs,
    readAt,
    exhausted,
    denies: exhausted ||
      (crowd && onlyShared && ids.length === 1 && !hasRowsWithoutId),
    settled,
    unresolved,
    hasRowsWithoutId,
    sharedIds,
    changed,
  };
  const { appended } = await context.recorder.record(
    entity,
    {
      sources: [],
      states: [],
      missing: exhausted ? left : [],
      readAt,
      requestedAtMs,
    },
    finish(answer),
  );
  context.onRead({ orders: 0, users: 0, appended });
  return answer;
}
