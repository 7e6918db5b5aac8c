import {
  callOptions,
  isRefusal,
  isServiceFailure,
  type ListPage,
  requestOldest,
  type ServiceFailure,
  type Steps,
} from "../walk/poll_client.ts";
import {
  type Entity,
  forgetIsolated,
  isolatedIdsOf,
  restUntil,
  selectIsolated,
  type Statement,
  upsertIsolated,
} from "../../ledger/for_sync.ts";
import { ITEMS_PER_REQUEST, type SweepContext } from "./sweep_context.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { recordPage } from "../recording/recorder.ts";
import { readPages } from "../walk/walk_range.ts";

/**
 * Requests orders or users by id, so that no id keeps the others from being
 * read: a request that the service refuses is split until the refused id stands
 * alone, and that id is set aside. A request is also split where its answer
 * holds too many orders, or rows without identifier.
 */
export async function* requestEach(
  context: SweepContext,
  entity: Entity,
  ids: readonly string[],
  finish: (answer: IdsAnswer) => readonly Statement[],
): Steps {
  const left: (readonly string[])[] = [ids];
  let answers = false;
  for (let some = left.pop(); some !== undefined; some = left.pop()) {
    try {
      const answer = yield* requestByIds(context, entity, some, (answer) => [
        ...finish(answer),
        forgetIsolated(entity, answer.settled),
      ]);
      answers = true;
      if (answer.unresolved.length === 0) continue;
      const [only] = answer.unresolved;
      if (some.length > 1) left.push(...apart(answer));
      else if (only !== undefined) {
        // A further request would say no more: it is requested alone from now on.
        const kind = answer.hasRowsWithoutId ? "unnamed" : "crowded";
        const now = new Date(context.now()).toISOString();
        await context.recorder.write([
          ...finish({ ...answer, settled: [only], unresolved: [] }),
          upsertIsolated({
            entity: "order",
            entityId: only,
            kind,
            why: WHY_ALONE[kind],
            since: now,
            attempts: 0,
            nextAttemptAt: now,
          }),
        ]);
      }
    } catch (error) {
      if (!isRefusal(error) || context.signal?.aborted) throw error;
      yield 1;
      if (!answers) {
        await mustAnswer(context, entity, error);
        answers = true;
        yield 1;
      }
      const [only, ...others] = some;
      if (only === undefined || others.length > 0) left.push(...halves(some));
      else await setOneAside(context, entity, only, error);
    }
  }
}

/** Throws the first failure when the service fails without any id as well. */
async function mustAnswer(
  context: SweepContext,
  entity: Entity,
  failure: ServiceFailure,
): Promise<void> {
  try {
    await requestOldest(context, entity);
  } catch (error) {
    throw isServiceFailure(error) ? failure : error;
  }
}

async function setOneAside(
  context: SweepContext,
  entity: Entity,
  id: string,
  refusal: ServiceFailure,
): Promise<void> {
  const [found] = await context.driver.batch(
    [selectIsolated(entity, id)],
    "read",
  );
  const [before] = isolatedIdsOf(found);
  await context.recorder.write(setAside(entity, id, {
    why: refusal.message,
    attempts: before?.kind === "refused" ? before.attempts : 0,
    nowMs: context.now(),
  }));
}

/** Ids that other orders have are requested alone, the others together. */
function apart({ unresolved, sharedIds }: IdsAnswer): (readonly string[])[] {
  const alone = unresolved.filter((id) => sharedIds.has(id));
  if (alone.length === 0) return halves(unresolved);
  const others = unresolved.filter((id) => !sharedIds.has(id));
  return [...alone.map((id) => [id]), ...(others.length > 0 ? [others] : [])];
}

/** The second half comes first: the last is taken first. */
function halves(ids: readonly string[]): (readonly string[])[] {
  const middle = Math.ceil(ids.length / 2);
  return [ids.slice(middle), ids.slice(0, middle)].filter((some) =>
    some.length > 0
  );
}

/** First pause after a refusal, doubled each time up to the second, in ms. */
const refusedPauses = { firstMs: 10_000, longestMs: 3_600_000 };

/** How long a refused id is not requested, in milliseconds. */
export function refusedPauseMs(attempts: number): number {
  return backoffMs(attempts, refusedPauses);
}

/** The statements that set a refused id aside. */
export function setAside(
  entity: Entity,
  entityId: string,
  refusal: {
    readonly why: string;
    readonly attempts: number;
    readonly nowMs: number;
  },
): Statement[] {
  const { why, nowMs } = refusal;
  const attempts = refusal.attempts + 1;
  const now = new Date(nowMs).toISOString();
  const againMs = nowMs + refusedPauseMs(attempts);
  const rests = [[entityId, againMs] as const];
  return [
    upsertIsolated({
      entity,
      entityId,
      kind: "refused",
      why,
      since: now,
      attempts,
      nextAttemptAt: new Date(againMs).toISOString(),
    }),
    restUntil("named", entity, rests),
    ...entity === "order" ? [restUntil("open", entity, rests)] : [],
  ];
}

/** Why nothing certain is known of an id, even when it is requested alone. */
const WHY_ALONE = {
  crowded:
    "The service answers with many other orders that have it as click id or external id",
  unnamed: "The service answers with a row without a usable identifier",
} as const;

/** What the service said about the ids of a request. */
export interface IdsAnswer {
  /** Status of each order it showed, as sent; null if unread, and of users. */
  readonly statuses: ReadonlyMap<string, string | null>;
  /** When the first page was requested, in milliseconds since the epoch. */
  readonly requestedAtMs: number;
  /** When the service answered last, UTC ISO 8601. */
  readonly readAt: string;
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
 */
async function* requestByIds(
  context: SweepContext,
  entity: Entity,
  ids: readonly string[],
  finish: (answer: IdsAnswer) => readonly Statement[],
): Steps<IdsAnswer> {
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
    denies: exhausted ||
      (crowd && onlyShared && ids.length === 1 && !hasRowsWithoutId),
    settled,
    unresolved,
    hasRowsWithoutId,
    sharedIds,
    changed,
  };
  const missing = exhausted ? left : [];
  const { appended } = await context.recorder.record(
    entity,
    { sources: [], states: [], missing, readAt, requestedAtMs },
    finish(answer),
  );
  context.onRead({ orders: 0, users: 0, appended });
  return answer;
}
