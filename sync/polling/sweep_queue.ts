import {
  appendStatement,
  deleteConfirmed,
  deleteFinal,
  drawUnknown,
  ENTITIES,
  type Entity,
  keepUp,
  lastMovedMs,
  nextFinalReadMs,
  normaliseStatus,
  OPEN_AT_LEAST_MS,
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
  selectKnown,
  type Statement,
  type Waiting,
  waitingOf,
} from "../../ledger/for_sync.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import { type IdsAnswer, requestEach } from "./request_each.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/service_time.ts";
import { ITEMS_PER_REQUEST, type SweepContext } from "./sweep_context.ts";
import type { Steps } from "../walk/walk.ts";
import { NOTHING_READ } from "../recording/recorder.ts";
import { contradictions } from "../recording/readings.ts";

interface QueueSweepOptions {
  /** Requests all that waits now once; else what is due, until nothing is. */
  readonly all: boolean;
  /** Whose turn it is; lives longer than one sweep. */
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
  { all, turns = new RequestTurns() }: QueueSweepOptions = { all: true },
): Steps {
  const lastMs = context.now() + CLOCK_TOLERANCE_MS;
  const choose = () => {
    const untilMs = all ? lastMs : context.now();
    return nextBatch(context, { queue: "named", untilMs, turns });
  };
  yield* sweepQueue(choose, async function* ({ entity, waiting }) {
    const [ids, others] = requestable(waiting.map(({ entityId }) => entityId));
    if (others.length > 0) {
      await context.recorder.write(forget(entity, waiting, others));
      yield 0;
    }
    yield* requestEach(
      context,
      entity,
      ids,
      (answer) => settleNamed(context, entity, waiting, answer),
    );
  });
}

/** Longest pause between two confirming reads of the same id, in ms. */
const CONFIRM_AT_MOST_MS = 10 * 60_000;

/** Removes the requested ids from the queue, and sets their pause. */
function settleNamed(
  context: SweepContext,
  entity: Entity,
  waiting: readonly Waiting[],
  answer: IdsAnswer,
): Statement[] {
  const { settled: ids, requestedAtMs, statuses } = answer;
  const shortestMs = context.confirmAtLeastMs;
  const settled = waiting.filter(({ entityId }) => ids.includes(entityId));
  // The service dates its answers in whole seconds: of a user whom a webhook named
  // in the same second only another answer says what came last. An order has times
  // of its own, and a clock that is far behind is not waited for.
  const answered = settled.filter(({ entityId, wantedAtMs }) =>
    entity === "order" || !statuses.has(entityId) ||
    wantedAtMs <= Date.parse(answer.readAt) ||
    requestedAtMs - wantedAtMs > CLOCK_TOLERANCE_MS
  );
  return [
    ...forget(entity, answered, ids),
    // Unless a webhook has made it urgent since: that one is not answered yet.
    restUntil(
      "named",
      entity,
      settled.map(({ entityId, claimedBy }): Rest => [
        entityId,
        requestedAtMs + shortestMs,
        claimedBy,
      ]),
    ),
    // Twice as long each time that it was named again and nothing had changed.
    restAfterRead(entity, {
      ...{ ids, changed: [...answer.changed], requestedAtMs },
      ...{ shortestMs, longestMs: CONFIRM_AT_MOST_MS },
    }),
  ];
}

function forget(
  entity: Entity,
  waiting: readonly Waiting[],
  ids: readonly string[],
): Statement[] {
  return deleteConfirmed(
    entity,
    waiting.filter(({ entityId }) => ids.includes(entityId)),
  );
}

/**
 * Requests every order that is not final, not confirmed, or contested, the
 * less often the longer it has not changed; and a few times more the orders
 * that lately became final. Records a contradiction where the service has not
 * agreed with a claim for ten minutes.
 */
export async function* sweepOpen(
  context: SweepContext,
  { all, turns = new RequestTurns() }: QueueSweepOptions,
): Steps {
  const beganMs = context.now();
  for (let after = 0; all;) {
    const some = await readQueuedOrders(
      context.driver,
      after,
      ITEMS_PER_REQUEST,
    );
    if (some.length === 0) break;
    after = some.at(-1)?.seq ?? after;
    yield* requestOrders(context, some.map(({ orderId }) => orderId));
  }
  const choose = () => {
    const untilMs = all ? beganMs : context.now();
    return nextBatch(context, { queue: "open", untilMs, turns });
  };
  yield* sweepQueue(
    choose,
    ({ waiting }) =>
      requestOrders(context, waiting.map(({ entityId }) => entityId)),
  );
}

async function* requestOrders(
  context: SweepContext,
  ids: readonly string[],
): Steps {
  const known = await readOpenOrders(context.driver, ids);
  const orders = new Map(known.map((order) => [order.orderId, order]));
  const [askable, others] = requestable(ids, (id) => orders.has(id));
  if (others.length > 0) {
    // These cannot be requested, or another version has folded them.
    const nowMs = context.now();
    const rests = others.map((id): Rest => [
      id,
      nowMs + (isRequestable(id) ? OPEN_AT_LEAST_MS : OPEN_AT_MOST_MS),
    ]);
    await context.recorder.write([restUntil("open", "order", rests)]);
    yield 0;
  }
  yield* requestEach(
    context,
    "order",
    askable,
    (answer) => settleOpen(context, orders, answer),
  );
}

/** Records contradictions, and says when each order is requested again. */
function settleOpen(
  context: SweepContext,
  orders: ReadonlyMap<string, OpenOrder>,
  answer: IdsAnswer,
): Statement[] {
  const nowMs = context.now();
  const settled = answer.settled.flatMap((id) => orders.get(id) ?? []);
  const next = settled.map(({ orderId, fold, finalAtMs }) => ({
    orderId,
    atMs: finalAtMs === null
      ? nowMs + requestAgainAfterMs(nowMs - lastMovedMs(fold))
      : nextFinalReadMs(finalAtMs, nowMs),
  }));
  const events = settled.filter(({ finalAtMs }) => finalAtMs === null)
    .flatMap((order) => contradictionsOf(context, order, answer));
  if (events.length > 0) {
    context.onRead({ ...NOTHING_READ, appended: events.length });
  }
  return [
    ...(events.length > 0 ? [appendStatement(events)] : []),
    restUntil(
      "open",
      "order",
      next.flatMap(({ orderId, atMs }): Rest[] =>
        atMs === null ? [] : [[orderId, atMs]]
      ),
    ),
    deleteFinal(
      next.filter(({ atMs }) => atMs === null).map(({ orderId }) => orderId),
    ),
  ];
}

function contradictionsOf(
  context: SweepContext,
  { orderId, fold }: OpenOrder,
  { statuses, denies, readAt, requestedAtMs }: IdsAnswer,
) {
  const shown = statuses.get(orderId);
  // An order without a readable status speaks against no claim.
  if (shown === null || (shown === undefined && !denies)) return [];
  const status = shown === undefined ? null : normaliseStatus(shown);
  return contradictions(
    fold,
    { status, requestedAtMs },
    context.contradictedAfterMs,
  ).map((found) =>
    record("order_contradicted", {
      order_id: orderId,
      status: found.status,
      up_to: found.upTo,
    }, {
      readAt,
      recordedAt: new Date(context.now()).toISOString(),
      salt: context.randomBytes(16),
    })
  );
}

/** Ids that can stand in a request, and those that cannot. */
function requestable(
  ids: readonly string[],
  isKnown: (id: string) => boolean = () => true,
): [string[], string[]] {
  const isAskable = (id: string) => isRequestable(id) && isKnown(id);
  return [ids.filter(isAskable), ids.filter((id) => !isAskable(id))];
}

async function* sweepQueue(
  choose: () => Promise<IdBatch | null>,
  request: (batch: IdBatch) => Steps,
): Steps {
  for (let batch = await choose(); batch !== null; batch = await choose()) {
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
  /** Counts the requests that they took. */
  readonly spend: (requests: number) => void;
}

/** How to choose among what waits. */
interface ChooseOptions {
  /** Users wait only where webhooks name them. */
  readonly queue: QueueName;
  /** Ids that are due later are left alone, in ms since the epoch. */
  readonly untilMs: number;
  /** Holds unknown ids and users to their shares. */
  readonly turns: RequestTurns;
}

/**
 * Chooses the ids of the next request: known ones, or unknown ones by their
 * share, drawn at random; orders, or users by theirs; the urgent ones first.
 * Unknown ones also get the places that known ones leave free, as long as that
 * does not take them more than their share of the requests.
 */
export async function nextBatch(
  context: SweepContext,
  { queue, untilMs, turns }: ChooseOptions,
): Promise<IdBatch | null> {
  const { driver, recorder, randomBytes } = context;
  const nowMs = context.now();
  const limit = ITEMS_PER_REQUEST;
  const choice = (queue === "open" ? ["order"] as const : ENTITIES).flatMap(
    (entity) => {
      const offset = randomBytes(4).reduce((sum, one) => sum * 256 + one, 0) /
        2 ** 32;
      return [
        selectKnown(queue, entity, untilMs, limit),
        drawUnknown(queue, entity, { nowMs: untilMs, offset, limit }),
      ];
    },
  );
  if (turns.looksAhead(nowMs)) await recorder.write(keepUp(queue, nowMs));
  const [orders = [], newOrders = [], users = [], newUsers = []] =
    (await driver.batch(choice, "read")).map(waitingOf);
  const known = turns.users.next(oneRequest(orders), oneRequest(users));
  const unknown = turns.users.next(newOrders, newUsers);
  const either = turns.unknown.next(known.waiting, unknown.waiting);
  const [first] = either.waiting;
  if (first === undefined) return null;
  const together = either.waiting.filter(({ alone }) => !alone).slice(0, limit);
  const beside = either.isSecond || first.alone || !turns.unknown.allowsBeside
    ? []
    : (first.entity === "order" ? newOrders : newUsers)
      .filter(({ alone }) => !alone).slice(0, limit - together.length);
  let spent = 0;
  return {
    entity: first.entity,
    waiting: first.alone ? [first] : [...together, ...beside],
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

/** Interval between two looks for times that have yet to come, in ms. */
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
  next(first: readonly Waiting[], second: readonly Waiting[]) {
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

  /** Counts requests that were made while both waited. */
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
  readonly unknown = new QuarterShare();
  readonly users = new QuarterShare();
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
