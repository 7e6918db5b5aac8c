import {
  callOptions,
  isRefusal,
  isServiceFailure,
  type ListPage,
  readPages,
  requestOldest,
  type ServiceFailure,
  type Steps,
} from "../walk/walk.ts";
import {
  type Entity,
  forgetIsolated,
  type IsolatedId,
  isolatedIdsOf,
  restUntil,
  selectIsolated,
  type Statement,
  upsertIsolated,
} from "../../ledger/for_sync.ts";
import { ITEMS_PER_REQUEST, type SweepContext } from "./sweep_context.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";
import { NOTHING_READ, recordPage } from "../recording/recorder.ts";

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
  const { driver, recorder, signal } = context;
  const left = ids.length === 0 ? [] : [ids];
  let answers = false;
  for (let some = left.pop(); some !== undefined; some = left.pop()) {
    const [only = ""] = some;
    try {
      const answer = yield* requestByIds(context, entity, some, (answer) => [
        ...finish(answer),
        forgetIsolated(entity, answer.settled),
      ]);
      answers = true;
      if (answer.unresolved.length === 0) continue;
      if (some.length > 1) left.push(...apart(answer));
      // A further request would say no more: it is requested alone from now on.
      else {
        await recorder.write([
          ...finish({ ...answer, settled: some, unresolved: [] }),
          keptAlone(context, entity, only, {
            kind: answer.hasRowsWithoutId ? "unnamed" : "crowded",
          }),
        ]);
      }
    } catch (error) {
      if (!isRefusal(error) || signal?.aborted) throw error;
      yield 1;
      if (!answers) {
        await mustAnswer(context, entity, error);
        answers = true;
        yield 1;
      }
      if (some.length > 1) left.push(...halves(some));
      else {
        const [found] = await driver.batch(
          [selectIsolated(entity, only)],
          "read",
        );
        const [before] = isolatedIdsOf(found);
        const tries = before?.kind === "refused" ? before.attempts : 0;
        await recorder.write(
          setAside(context, entity, only, error.message, tries + 1),
        );
      }
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
const REFUSED_PAUSES = { firstMs: 10_000, longestMs: 3_600_000 };

/** How long a refused id is not requested, in milliseconds. */
export function refusedPauseMs(attempts: number): number {
  return backoffMs(attempts, REFUSED_PAUSES);
}

/** The statements that set an id aside that was refused so many times in a row. */
export function setAside(
  context: Pick<SweepContext, "now">,
  entity: Entity,
  id: string,
  why: string,
  attempts: number,
): Statement[] {
  const againMs = context.now() + refusedPauseMs(attempts);
  const rest = (queue: "named" | "open") =>
    restUntil(queue, entity, [[id, againMs]]);
  return [
    keptAlone(context, entity, id, {
      kind: "refused",
      ...{ why, attempts, nextAttemptAt: new Date(againMs).toISOString() },
    }),
    rest("named"),
    ...entity === "order" ? [rest("open")] : [],
  ];
}

/** Why nothing certain is known of an id, even when it is requested alone. */
const WHY_ALONE = {
  crowded:
    "The service answers with many other orders that have it as click id or external id",
  unnamed: "The service answers with a row without a usable identifier",
  refused: "",
} as const;

/** Remembers that an id is to be requested alone. */
function keptAlone(
  { now }: Pick<SweepContext, "now">,
  entity: Entity,
  entityId: string,
  more: Pick<IsolatedId, "kind"> & Partial<IsolatedId>,
): Statement {
  const since = new Date(now()).toISOString();
  return upsertIsolated({
    ...{ entity, entityId, since, attempts: 0, nextAttemptAt: since },
    ...{ why: WHY_ALONE[more.kind], ...more },
  });
}

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
const PAGES_AT_MOST = 3;

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
  const { client, recorder } = context;
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
    readAt = page.readAt;
    const ids = await recordPage(context, entity, page, requestedAtMs);
    for (const id of ids) changed.add(id);
  };
  if (entity === "order") {
    const walk = client.orders.list(
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
      pages += 1;
      yield 1;
      if (ids.every((id) => statuses.has(id))) break;
      crowd = statuses.size > ids.length || statuses.size >= ITEMS_PER_REQUEST;
      hasRowsWithoutId ||= page.rowsWithoutId.length > 0;
      if (crowd || pages >= PAGES_AT_MOST) break;
    }
    exhausted = walk.completeness.exhausted;
  } else {
    // Ids are distinct, so one page holds all that the service knows.
    const page = await client.users.page(
      { user_ids: ids, limit: ITEMS_PER_REQUEST },
      callOptions(context),
    );
    await onPage(page, requestedAtMs);
    for (const user of page.data) statuses.set(user.user_id, null);
    exhausted = page.rowsWithoutId.length === 0;
    yield 1;
  }
  const left = ids.filter((id) => !statuses.has(id));
  const unresolved = (crowd || hasRowsWithoutId) && !exhausted ? left : [];
  const denies = exhausted ||
    (crowd && onlyShared && ids.length === 1 && !hasRowsWithoutId);
  const settled = ids.filter((id) => !unresolved.includes(id));
  const answer: IdsAnswer = {
    ...{ statuses, requestedAtMs, readAt, denies, settled, unresolved },
    ...{ hasRowsWithoutId, sharedIds, changed },
  };
  const { appended } = await recorder.record(
    entity,
    {
      ...{ sources: [], states: [], readAt, requestedAtMs },
      missing: exhausted ? left : [],
    },
    finish(answer),
  );
  context.onRead({ ...NOTHING_READ, appended });
  return answer;
}
