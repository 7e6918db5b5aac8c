import {
  appendStatement,
  deleteConfirmed,
  deleteFinal,
  drawUnknown,
  type Driver,
  ENTITIES,
  type Entity,
  forgetIsolated,
  type IsolatedId,
  isolatedIdsOf,
  keepUp,
  lastMovedMs,
  LEASE_MS,
  nextFinalReadMs,
  normaliseStatus,
  OPEN_AT_MOST_MS,
  type OpenOrder,
  type QueueName,
  readOpenOrders,
  readQueuedOrders,
  record,
  requestAgainAfterMs,
  type Rest,
  restAfterRead,
  restUntil,
  selectIsolated,
  selectKnown,
  type Statement,
  upsertIsolated,
  type Waiting,
  waitingOf,
} from "../../ledger/for_sync.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import { backoffMs } from "../../core/waiting/waiting.ts";
import { isRequestable } from "../../core/wire/objects.ts";
import {
  CONTRADICTED_AFTER_MS,
  contradictions,
  NOTHING_READ,
  type Recorder,
  recordPage,
  type SweepRead,
} from "../recording/recorder.ts";
import {
  callOptions,
  isRefusal,
  isServiceFailure,
  type ListPage,
  type PollClient,
  readPages,
  requestOldest,
  type Steps,
} from "../walk/walk.ts";
import { WATCH_EVERY_MS } from "../watchdog/watchdog.ts";

/** Items of one page: the most the Data API gives. Source: "Limits". */
export const ITEMS_PER_REQUEST = 20;

/**
 * What is used where the options leave it out, times in ms. Declarations of the
 * package are made file by file, so what stands elsewhere says its type here.
 */
export const POLLER_DEFAULTS = {
  requestsPerSecond: 4,
  burst: 2,
  shares: { new: 2, open: 3, confirm: 3, deep: 2 },
  followEveryMs: 15_000,
  confirmEveryMs: 1000,
  confirmAtLeastMs: 10_000,
  openEveryMs: 5000,
  deepCycleAtLeastMs: 3_600_000,
  itemsPerWindow: 200,
  /** How far back the new sweep looks again. */
  overlapMs: 120_000,
  /** Younger than this the past may still change. */
  settleMs: 60_000,
  contradictedAfterMs: CONTRADICTED_AFTER_MS as number,
  watchEveryMs: WATCH_EVERY_MS as number,
  leaseMs: LEASE_MS as number,
  randomBytes: (length: number): Uint8Array =>
    crypto.getRandomValues(new Uint8Array(length)),
};

/** What a sweep works with. */
export type SweepContext = typeof POLLER_DEFAULTS & {
  readonly client: PollClient;
  readonly driver: Driver;
  readonly recorder: Recorder;
  readonly now: () => number;
  readonly signal?: AbortSignal;
  readonly onRead: (read: SweepRead) => void;
};

interface QueueSweepOptions {
  /** Requests all that waits now once; else what is due, until nothing is. */
  readonly all: boolean;
  readonly turns?: RequestTurns;
}

/**
 * Requests the orders and users that webhooks named, 20 at a time. Ids that the
 * service has shown come first, of these the urgent ones and then the longest
 * waiting; unknown ids take at most a quarter of the requests meanwhile, and
 * users at most a quarter while orders wait. An id that is named again while it
 * is requested stays in the queue.
 */
export async function* sweepConfirm(
  context: SweepContext,
  how: QueueSweepOptions = { all: true },
): Steps {
  yield* sweepQueue(context, "named", how, ({ entity, waiting }) => {
    const of = (ids: readonly string[]) =>
      waiting.filter(({ entityId }) => ids.includes(entityId));
    return requestEach(context, entity, waiting.map(idOf), {
      leave: (ids) => [deleteConfirmed(entity, of(ids))],
      settle: (answer) => settleNamed(context, entity, answer, of),
    });
  });
}

const idOf = ({ entityId }: Waiting) => entityId;

/** Longest pause between two confirming reads of the same id, in ms. */
const CONFIRM_AT_MOST_MS = 10 * 60_000;

function settleNamed(
  { confirmAtLeastMs: shortestMs }: SweepContext,
  entity: Entity,
  { settled: ids, requestedAtMs, statuses, readAt, changed }: IdsAnswer,
  of: (ids: readonly string[]) => readonly Waiting[],
): Statement[] {
  const settled = of(ids);
  // The service dates its answers in whole seconds: of a user whom a webhook named
  // in the same second only another answer says what came last. An order has times
  // of its own, and a clock that is far behind is not waited for.
  const answered = settled.filter(({ entityId, wantedAtMs }) =>
    entity === "order" || !statuses.has(entityId) ||
    wantedAtMs <= Date.parse(readAt) ||
    requestedAtMs - wantedAtMs > CLOCK_TOLERANCE_MS
  );
  const untilMs = requestedAtMs + shortestMs;
  const rests = settled.map((one): Rest => [
    one.entityId,
    untilMs,
    one.claimedBy,
  ]);
  return [
    deleteConfirmed(entity, answered),
    // Unless a webhook has made it urgent since: that one is not answered yet.
    restUntil("named", entity, rests),
    // Twice as long each time that it was named again and nothing had changed.
    restAfterRead(entity, {
      ...{ ids, changed: [...changed], requestedAtMs },
      ...{ shortestMs, longestMs: CONFIRM_AT_MOST_MS },
    }),
  ];
}

/**
 * Requests every order that is not final, not confirmed, or contested, the
 * less often the longer it has not changed; and a few times more the orders
 * that lately became final. Records a contradiction where the service has not
 * agreed with a claim for ten minutes.
 */
export async function* sweepOpen(
  context: SweepContext,
  how: QueueSweepOptions,
): Steps {
  const { driver } = context;
  for (let after = 0; how.all;) {
    const some = await readQueuedOrders(driver, after, ITEMS_PER_REQUEST);
    if (some.length === 0) break;
    after = some.at(-1)?.seq ?? after;
    yield* requestOrders(context, some.map(({ orderId }) => orderId));
  }
  yield* sweepQueue(
    context,
    "open",
    how,
    ({ waiting }) => requestOrders(context, waiting.map(idOf)),
  );
}

async function* requestOrders(
  context: SweepContext,
  ids: readonly string[],
): Steps {
  const open = await readOpenOrders(context.driver, ids);
  yield* requestEach(context, "order", open.map(({ orderId }) => orderId), {
    leave: (others) => {
      const untilMs = context.now() + OPEN_AT_MOST_MS;
      const rests = others.map((id): Rest => [id, untilMs]);
      return [restUntil("open", "order", rests)];
    },
    settle: (answer) => {
      const ids = new Set(answer.settled);
      const settled = open.filter(({ orderId }) => ids.has(orderId));
      return settleOpen(context, settled, answer);
    },
  });
}

function settleOpen(
  context: SweepContext,
  settled: readonly OpenOrder[],
  answer: IdsAnswer,
): Statement[] {
  const nowMs = context.now();
  const rests: Rest[] = [];
  const ended: string[] = [];
  for (const { orderId, fold, finalAtMs } of settled) {
    const nextMs = finalAtMs === null
      ? nowMs + requestAgainAfterMs(nowMs - lastMovedMs(fold))
      : nextFinalReadMs(finalAtMs, nowMs);
    if (nextMs === null) ended.push(orderId);
    else rests.push([orderId, nextMs]);
  }
  const events = settled.filter(({ finalAtMs }) => finalAtMs === null)
    .flatMap((order) => contradictionsOf(context, order, answer));
  if (events.length > 0) {
    context.onRead({ ...NOTHING_READ, appended: events.length });
  }
  return [
    ...(events.length > 0 ? [appendStatement(events)] : []),
    restUntil("open", "order", rests),
    deleteFinal(ended),
  ];
}

function contradictionsOf(
  { contradictedAfterMs, now, randomBytes }: SweepContext,
  { orderId, fold }: OpenOrder,
  { statuses, denies, readAt, requestedAtMs }: IdsAnswer,
) {
  const shown = statuses.get(orderId);
  // An order without a readable status speaks against no claim.
  if (shown === null || (shown === undefined && !denies)) return [];
  const status = shown === undefined ? null : normaliseStatus(shown);
  const answer = { status, requestedAtMs };
  return contradictions(fold, answer, contradictedAfterMs).map((found) =>
    record("order_contradicted", {
      order_id: orderId,
      status: found.status,
      up_to: found.upTo,
    }, {
      readAt,
      recordedAt: new Date(now()).toISOString(),
      salt: randomBytes(16),
    })
  );
}

interface ChooseOptions {
  /** Users wait only where webhooks name them. */
  readonly queue: QueueName;
  /** Ids that are due later are left alone, in ms since the epoch. */
  readonly untilMs: number;
  readonly turns: RequestTurns;
}

async function* sweepQueue(
  context: SweepContext,
  queue: QueueName,
  { all, turns = new RequestTurns() }: QueueSweepOptions,
  request: (batch: IdBatch) => Steps,
): Steps {
  const lastMs = context.now() + CLOCK_TOLERANCE_MS;
  for (;;) {
    const untilMs = all ? lastMs : context.now();
    const batch = await nextBatch(context, { queue, untilMs, turns });
    if (batch === null) return;
    for await (const requests of request(batch)) {
      batch.spend(requests);
      yield requests;
    }
  }
}

interface IdBatch {
  readonly entity: Entity;
  /** At most 20; one where it has to be requested alone. */
  readonly waiting: readonly Waiting[];
  readonly spend: (requests: number) => void;
}

/**
 * Chooses the ids of the next request: known ones, or unknown ones by their
 * share, drawn at random; orders, or users by theirs; the urgent ones first.
 * Unknown ones also get the places that known ones leave free, as long as that
 * does not take them more than their share of the requests.
 */
export async function nextBatch(
  { driver, recorder, randomBytes, now }: SweepContext,
  { queue, untilMs, turns }: ChooseOptions,
): Promise<IdBatch | null> {
  const limit = ITEMS_PER_REQUEST;
  const entities = queue === "open" ? ["order"] as const : ENTITIES;
  const choice = entities.flatMap((entity) => {
    const random = randomBytes(4).reduce((sum, one) => sum * 256 + one, 0);
    const draw = { nowMs: untilMs, offset: random / 2 ** 32, limit };
    return [
      selectKnown(queue, entity, untilMs, limit),
      drawUnknown(queue, entity, draw),
    ];
  });
  if (turns.looksAhead(now())) await recorder.write(keepUp(queue, now()));
  const [orders = [], newOrders = [], users = [], newUsers = []] =
    (await driver.batch(choice, "read")).map(waitingOf);
  const known = turns.users.next(oneRequest(orders), oneRequest(users));
  const unknown = turns.users.next(newOrders, newUsers);
  const either = turns.unknown.next(known.waiting, unknown.waiting);
  const [first] = either.waiting;
  if (first === undefined) return null;
  const { entity, alone } = first;
  const together = (waiting: readonly Waiting[], most: number) =>
    waiting.filter((one) => !one.alone).slice(0, most);
  const some = alone ? [first] : together(either.waiting, limit);
  const beside = either.isSecond || alone || !turns.unknown.allowsBeside
    ? []
    : together(entity === "order" ? newOrders : newUsers, limit - some.length);
  let spent = 0;
  return {
    entity,
    waiting: [...some, ...beside],
    spend: (requests) => {
      // One would have done, but for the unknown ones.
      if (spent > 0 && beside.length > 0) turns.unknown.spend(true, requests);
      else either.spend(requests);
      (either.isSecond ? unknown : known).spend(requests);
      spent += requests;
    },
  };
}

/**
 * What fits one request: the urgent first, but others have half the places, so that
 * nobody can delay those without end.
 */
function oneRequest(waiting: readonly Waiting[]): readonly Waiting[] {
  const urgent = waiting.filter(({ urgency }) => urgency > 0);
  const others = waiting.filter(({ urgency }) => urgency === 0);
  const forOthers = Math.min(others.length, ITEMS_PER_REQUEST / 2);
  return [...urgent.slice(0, ITEMS_PER_REQUEST - forOthers), ...others]
    .slice(0, ITEMS_PER_REQUEST);
}

/**
 * One request in this many may go to what comes second while the first waits.
 */
const ONE_IN = 4;

const LOOK_EVERY_MS = 60_000;

/**
 * Holds what comes second to a quarter of the requests while what comes first
 * waits as well: ids that the service never showed, because anybody can invent
 * ids, and users, because no goods wait for them.
 */
class QuarterShare {
  #earned = 0;

  /**
   * Whether what comes second may have the places that a request for what comes
   * first leaves free: it costs nothing, but where the service does not know it.
   */
  get allowsBeside(): boolean {
    return this.#earned >= 0;
  }

  /** The first list that waits, or the second by its share. */
  next(
    first: readonly Waiting[],
    second: readonly Waiting[],
  ): Omit<IdBatch, "entity"> & { readonly isSecond: boolean } {
    const bothWait = first.length > 0 && second.length > 0;
    const isSecond = bothWait ? this.#earned >= ONE_IN - 1 : first.length === 0;
    return {
      isSecond,
      waiting: isSecond ? second : first,
      spend: (requests: number) => {
        if (bothWait) this.spend(isSecond, requests);
      },
    };
  }

  spend(isSecond: boolean, requests: number): void {
    // Nothing is saved up: the first do not pay for a later flood.
    this.#earned = isSecond
      ? this.#earned - requests * (ONE_IN - 1)
      : Math.min(ONE_IN - 1, this.#earned + requests);
  }
}

/** Whose turn it is in a queue; lives longer than one sweep through it. */
export class RequestTurns {
  /** Known ids come first, unknown ones second. */
  readonly unknown: QuarterShare = new QuarterShare();
  readonly users: QuarterShare = new QuarterShare();
  #lookedMs = Infinity;

  /**
   * Whether to look for times in the queue that have yet to come: once a minute,
   * and whenever the clock was set back.
   */
  looksAhead(nowMs: number): boolean {
    const sinceMs = nowMs - this.#lookedMs;
    if (sinceMs >= 0 && sinceMs < LOOK_EVERY_MS) return false;
    this.#lookedMs = nowMs;
    return true;
  }
}

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
  { leave, settle }: {
    /** What becomes of ids that nobody can ask for. */
    readonly leave: (ids: readonly string[]) => readonly Statement[];
    readonly settle: (answer: IdsAnswer) => readonly Statement[];
  },
): Steps {
  const { driver, recorder, signal } = context;
  const askable = ids.filter(isRequestable);
  if (askable.length < ids.length) {
    await recorder.write(leave(ids.filter((id) => !isRequestable(id))));
    yield 0;
  }
  const left: (readonly string[])[] = askable.length === 0 ? [] : [askable];
  let answers = false;
  for (let some = left.pop(); some !== undefined; some = left.pop()) {
    const [only = ""] = some;
    try {
      const answer = yield* requestByIds(context, entity, some, (answer) => [
        ...settle(answer),
        forgetIsolated(entity, answer.settled),
      ]);
      answers = true;
      if (answer.unresolved.length === 0) continue;
      if (some.length > 1) left.push(...halves(answer.unresolved));
      // A further request would say no more: it is requested alone from now on.
      else {
        await recorder.write([
          ...settle({ ...answer, settled: some, unresolved: [] }),
          keptAlone(
            context,
            entity,
            only,
            answer.hasRowsWithoutId ? UNNAMED : CROWDED,
          ),
        ]);
      }
    } catch (error) {
      if (!isRefusal(error) || signal?.aborted) throw error;
      yield 1;
      if (!answers) {
        // Where it fails without any id as well, the first failure says why.
        await requestOldest(context, entity).catch((other) => {
          throw isServiceFailure(other) ? error : other;
        });
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
  const queues = entity === "order"
    ? ["named", "open"] as const
    : ["named"] as const;
  return [
    keptAlone(context, entity, id, {
      kind: "refused",
      ...{ why, attempts, nextAttemptAt: new Date(againMs).toISOString() },
    }),
    ...queues.map((queue) => restUntil(queue, entity, [[id, againMs]])),
  ];
}

function keptAlone(
  { now }: Pick<SweepContext, "now">,
  entity: Entity,
  entityId: string,
  more: Pick<IsolatedId, "kind" | "why"> & Partial<IsolatedId>,
): Statement {
  const since = new Date(now()).toISOString();
  return upsertIsolated({
    ...{ entity, entityId, since, attempts: 0, nextAttemptAt: since },
    ...more,
  });
}

const UNNAMED = {
  kind: "unnamed",
  why: "The service answers with a row without a usable identifier",
} as const;
const CROWDED = {
  kind: "crowded",
  why:
    "The service answers with many other orders that have it as click id or external id",
} as const;

interface IdsAnswer {
  /** Status of each order it showed, as sent; null if unread, and of users. */
  readonly statuses: ReadonlyMap<string, string | null>;
  readonly requestedAtMs: number;
  readonly readAt: string;
  /**
   * Whether the answer speaks against claims about an order that it does not
   * show: it is exhausted, or shows only orders that have the one requested id
   * as click id or external id. Such orders are younger than an order of that
   * id would be, and the oldest come first.
   */
  readonly denies: boolean;
  readonly settled: readonly string[];
  /**
   * Ids about which the answer is not conclusive: it holds more orders than
   * were requested, because an id may be the click id of a thousand, or rows
   * without identifier, each of which may be the requested one.
   */
  readonly unresolved: readonly string[];
  readonly hasRowsWithoutId: boolean;
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
  let readAt = new Date(requestedAtMs).toISOString();
  let exhausted = true;
  let crowd = false;
  let onlyShared = true;
  let hasRowsWithoutId = false;
  const onPage = async (page: ListPage, requestedAtMs: number) => {
    readAt = page.readAt;
    for (const id of await recordPage(context, entity, page, requestedAtMs)) {
      changed.add(id);
    }
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
        // Each id asked for may be the click id of a thousand orders.
        onlyShared &&= [order.click_id, order.external_order_id]
          .some((id) => typeof id === "string" && ids.includes(id));
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
    ...{ hasRowsWithoutId, changed },
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
