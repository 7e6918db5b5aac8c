import {
  appendStatement,
  deleteConfirmed,
  deleteFinal,
  drawUnknown,
  ENTITIES,
  type Entity,
  keepUp,
  lastMovedMs,
  type NewEvent,
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
  type ResultSet,
  selectKnown,
  type Statement,
  type Waiting,
  waitingOf,
} from "../../ledger/for_sync.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import { type IdsAnswer, requestEach } from "./request_each.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import {
  ITEMS_PER_REQUEST,
  PLACES_FOR_OTHERS,
  type SweepContext,
} from "./sweep_context.ts";
import type { Steps } from "../walk/poll_client.ts";
import { contradictions } from "../recording/readings.ts";

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
  const untilMs = () => all ? lastMs : context.now();
  const choice = { queue: "named", entities: ENTITIES, turns } as const;
  yield* sweepQueue(context, choice, untilMs, async function* (batch) {
    const { entity, waiting } = batch;
    const ids = waiting.map((one) => one.entityId);
    const others = ids.filter((id) => !isRequestable(id));
    if (others.length > 0) {
      await context.recorder.write(forget(entity, waiting, others));
      yield 0;
    }
    const requestable = ids.filter(isRequestable);
    if (requestable.length === 0) return;
    yield* requestEach(
      context,
      entity,
      requestable,
      (answer) => settleNamed(context, entity, waiting, answer),
    );
  });
}

/** Removes the requested ids from the queue, and sets their pause. */
function settleNamed(
  context: SweepContext,
  entity: Entity,
  waiting: readonly Waiting[],
  answer: IdsAnswer,
): Statement[] {
  const ids = answer.settled;
  const shortestMs = context.confirmAtLeastMs;
  // Unless a webhook has made it urgent since: that one is not answered yet.
  const rests = waiting.filter(({ entityId }) => ids.includes(entityId)).map(
    ({ entityId, claimedBy }): Rest => [
      entityId,
      answer.requestedAtMs + shortestMs,
      claimedBy,
    ],
  );
  return [
    ...forget(entity, waiting.filter(isAnswered(entity, answer)), ids),
    restUntil("named", entity, rests),
    // Twice as long each time that it was named again and nothing had changed.
    restAfterRead(entity, {
      ids,
      changed: [...answer.changed],
      requestedAtMs: answer.requestedAtMs,
      shortestMs,
      longestMs: CONFIRM_AT_MOST_MS,
    }),
  ];
}

/**
 * The service dates its answers in whole seconds: of a user whom a webhook named in
 * the same second only another answer says what came last. An order has times of its
 * own, and a clock that is far behind is not waited for.
 */
function isAnswered(
  entity: Entity,
  { readAt, requestedAtMs, statuses }: IdsAnswer,
) {
  const readMs = Date.parse(readAt);
  return ({ entityId, wantedAtMs }: Waiting) =>
    entity === "order" || !statuses.has(entityId) || wantedAtMs <= readMs ||
    requestedAtMs - wantedAtMs > CLOCK_TOLERANCE_MS;
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

/** Longest pause between two confirming reads of the same id, in ms. */
const CONFIRM_AT_MOST_MS = 10 * 60_000;

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
  if (all) yield* requestAll(context);
  const untilMs = () => all ? beganMs : context.now();
  const choice = { queue: "open", entities: ["order"], turns } as const;
  yield* sweepQueue(
    context,
    choice,
    untilMs,
    ({ waiting }) =>
      requestOrders(context, waiting.map(({ entityId }) => entityId)),
  );
}

/** Requests all open orders, by their place in the queue. */
async function* requestAll(context: SweepContext): Steps {
  let after = 0;
  for (;;) {
    const some = await readQueuedOrders(
      context.driver,
      after,
      ITEMS_PER_REQUEST,
    );
    const last = some.at(-1);
    if (last === undefined) return;
    after = last.seq;
    yield* requestOrders(context, some.map(({ orderId }) => orderId));
  }
}

async function* requestOrders(
  context: SweepContext,
  ids: readonly string[],
): Steps {
  const known = await readOpenOrders(context.driver, ids);
  const orders = new Map(known.map((order) => [order.orderId, order]));
  const requestable = ids.filter((id) => isRequestable(id) && orders.has(id));
  const others = ids.filter((id) => !requestable.includes(id));
  if (others.length > 0) {
    // These cannot be requested, or another version has folded them.
    const nowMs = context.now();
    const rests = others.map((id) =>
      [
        id,
        nowMs + (isRequestable(id) ? OPEN_AT_LEAST_MS : OPEN_AT_MOST_MS),
      ] as const
    );
    await context.recorder.write([
      restUntil("open", "order", rests),
    ]);
    yield 0;
  }
  if (requestable.length === 0) return;
  yield* requestEach(
    context,
    "order",
    requestable,
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
  const events: NewEvent[] = [];
  const rests: [string, number][] = [];
  const done: string[] = [];
  for (const id of answer.settled) {
    const order = orders.get(id);
    if (order === undefined) continue;
    if (order.finalAtMs === null) {
      events.push(...contradictionsOf(context, order, answer));
      const stillMs = nowMs - lastMovedMs(order.fold);
      rests.push([id, nowMs + requestAgainAfterMs(stillMs)]);
      continue;
    }
    const nextMs = nextFinalReadMs(order.finalAtMs, nowMs);
    if (nextMs === null) done.push(id);
    else rests.push([id, nextMs]);
  }
  if (events.length > 0) {
    context.onRead({ orders: 0, users: 0, appended: events.length });
  }
  return [
    ...(events.length > 0 ? [appendStatement(events)] : []),
    restUntil("open", "order", rests),
    deleteFinal(done),
  ];
}

function contradictionsOf(
  context: SweepContext,
  { orderId, fold }: OpenOrder,
  answer: IdsAnswer,
): NewEvent[] {
  const shown = answer.statuses.get(orderId);
  if (shown === undefined && !answer.denies) return [];
  // An order without a readable status speaks against no claim.
  if (shown === null) return [];
  const status = shown === undefined ? null : normaliseStatus(shown);
  const said = { status, requestedAtMs: answer.requestedAtMs };
  return contradictions(fold, said, context.contradictedAfterMs).map((found) =>
    record("order_contradicted", {
      order_id: orderId,
      status: found.status,
      up_to: found.upTo,
    }, {
      readAt: answer.readAt,
      recordedAt: isoTime(context.now()),
      salt: context.randomBytes(16),
    })
  );
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

interface QueueSweepOptions {
  /** Requests all that waits now once; else what is due, until nothing is. */
  readonly all: boolean;
  /** Whose turn it is; lives longer than one sweep. */
  readonly turns?: RequestTurns;
}

async function* sweepQueue(
  context: SweepContext,
  choice: Omit<ChooseOptions, "untilMs">,
  untilMs: () => number,
  request: (batch: IdBatch) => Steps,
): Steps {
  for (;;) {
    const batch = await nextBatch(context, { ...choice, untilMs: untilMs() });
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
  /** Counts the requests that they took. */
  readonly spend: (requests: number) => void;
}

/** How to choose among what waits. */
interface ChooseOptions {
  readonly queue: QueueName;
  /** Kinds of entities in it, in their order. */
  readonly entities: readonly Entity[];
  /** Ids that are due later are left alone, in ms since the epoch. */
  readonly untilMs: number;
  /** Holds unknown ids and users to their shares. */
  readonly turns: RequestTurns;
}

/** What may be requested next of one kind of entity; at most 20 each. */
interface Waits {
  readonly known: readonly Waiting[];
  readonly unknown: readonly Waiting[];
}

/**
 * Chooses the ids of the next request: known ones, or unknown ones by their
 * share, drawn at random; orders, or users by theirs; the urgent ones first.
 * Unknown ones also get the places that known ones leave free, as long as that
 * does not take them more than their share of the requests.
 */
export async function nextBatch(
  context: SweepContext,
  options: ChooseOptions,
): Promise<IdBatch | null> {
  const { turns, untilMs } = options;
  const lists = (await readChoice(context, options)).map((set) =>
    waitingOf(set).filter(({ dueAtMs }) => dueAtMs <= untilMs)
  );
  const waits = options.entities.map((_, at): Waits => ({
    known: oneRequest(lists[2 * at] ?? []),
    unknown: (lists[2 * at + 1] ?? []).slice(0, ITEMS_PER_REQUEST),
  }));
  const known = turnOf(waits.map((one) => one.known), turns.users);
  const unknown = turnOf(waits.map((one) => one.unknown), turns.users);
  const either = turnOf(
    [known?.waiting ?? [], unknown?.waiting ?? []],
    turns.unknown,
  );
  const [first] = either?.waiting ?? [];
  if (either === null || first === undefined) return null;
  const { waiting } = either;
  const isKnown = known?.waiting === waiting;
  const chosen = isKnown ? known : unknown;
  const together = waiting.filter(({ alone }) => !alone);
  const { entity } = first;
  const beside = isKnown && !first.alone && turns.unknown.allowsBeside
    ? (waits[options.entities.indexOf(entity)]?.unknown ?? [])
      .filter(({ alone }) => !alone)
      .slice(0, ITEMS_PER_REQUEST - together.length)
    : [];
  let spent = 0;
  return {
    entity,
    waiting: first.alone ? [first] : [...together, ...beside],
    spend: (requests) => {
      // One would have done, but for the unknown ones.
      if (spent > 0 && beside.length > 0) {
        turns.unknown.spend("second", requests);
      } else either.spend(requests);
      chosen?.spend(requests);
      spent += requests;
    },
  };
}

/** Reads what waits, known and unknown of each kind, after the upkeep. */
async function readChoice(
  context: SweepContext,
  { queue, entities, untilMs, turns }: ChooseOptions,
): Promise<ResultSet[]> {
  const { driver, recorder } = context;
  const nowMs = context.now();
  const choice = entities.flatMap((entity) => [
    selectKnown(queue, entity, untilMs, ITEMS_PER_REQUEST),
    drawUnknown(queue, entity, {
      nowMs: untilMs,
      offset: fraction(context),
      limit: ITEMS_PER_REQUEST,
    }),
  ]);
  if (turns.looksAhead(nowMs)) await recorder.write(keepUp(queue, nowMs));
  return await driver.batch(choice, "read");
}

/** What fits one request: the urgent first, but others have their places. */
function oneRequest(waiting: readonly Waiting[]): readonly Waiting[] {
  const urgent = waiting.filter(({ urgency }) => urgency > 0);
  const others = waiting.filter(({ urgency }) => urgency === 0);
  const places = Math.max(
    ITEMS_PER_REQUEST - Math.min(others.length, PLACES_FOR_OTHERS),
    ITEMS_PER_REQUEST - others.length,
  );
  return [...urgent.slice(0, places), ...others].slice(0, ITEMS_PER_REQUEST);
}

/** One of two lists that wait, and how to count the requests for it. */
interface TurnOf {
  readonly waiting: readonly Waiting[];
  readonly spend: (requests: number) => void;
}

/** The first list that waits, or the second by its share. */
function turnOf(
  [first = [], second = []]: readonly (readonly Waiting[])[],
  share: QuarterShare,
): TurnOf | null {
  if (first.length === 0 && second.length === 0) return null;
  if (first.length === 0 || second.length === 0) {
    return { waiting: first.length === 0 ? second : first, spend: () => {} };
  }
  return share.allowsSecond
    ? { waiting: second, spend: (requests) => share.spend("second", requests) }
    : { waiting: first, spend: (requests) => share.spend("first", requests) };
}

function fraction({ randomBytes }: SweepContext): number {
  const [a = 0, b = 0, c = 0, d = 0] = randomBytes(4);
  return (((a * 256 + b) * 256 + c) * 256 + d) / 2 ** 32;
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

  /** Whether the next request may be for what comes second. */
  get allowsSecond(): boolean {
    return this.#earned >= ONE_IN - 1;
  }

  /**
   * Whether what comes second may have the places that a request for what comes
   * first leaves free: it costs nothing, but where the service does not know it.
   */
  get allowsBeside(): boolean {
    return this.#earned >= 0;
  }

  /** Counts requests that were made while both waited. */
  spend(kind: "first" | "second", requests: number): void {
    // Nothing is saved up: the first do not pay for a later flood.
    this.#earned = kind === "first"
      ? Math.min(ONE_IN - 1, this.#earned + requests)
      : this.#earned - requests * (ONE_IN - 1);
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
