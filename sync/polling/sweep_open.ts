import {
  appendStatement,
  deleteFinal,
  lastMovedMs,
  type NewEvent,
  nextFinalReadMs,
  normaliseStatus,
  OPEN_AT_LEAST_MS,
  OPEN_AT_MOST_MS,
  type OpenOrder,
  readOpenOrders,
  readQueuedOrders,
  record,
  requestAgainAfterMs,
  restUntil,
  type Statement,
} from "../../ledger/for_sync.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import type { IdsAnswer } from "./request_by_ids.ts";
import { requestEach } from "./request_each.ts";
import { contradictions } from "../recording/contradiction.ts";
import { nextBatch } from "./request_queue.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { Steps } from "../walk/steps.ts";
import { RequestTurns } from "./request_turns.ts";

/** How to sweep the open orders. */
export interface OpenSweepOptions {
  /** Requests all of them once, due or not; else those that are due. */
  readonly all: boolean;
  /** Whose turn it is; lives longer than one sweep. */
  readonly turns?: RequestTurns;
}

/**
 * Requests every order that is not final, not confirmed, or contested, the
 * less often the longer it has not changed; and a few times more the orders
 * that lately became final. Records a contradiction where the service has not
 * agreed with a claim for ten minutes.
 *
 * @param context What to work with.
 * @param options How to sweep.
 *
 * @example Run it to its end
 * ```ts ignore
 * for await (const requests of sweepOpen(context, options)) count += requests;
 * ```
 */
export async function* sweepOpen(
  context: SweepContext,
  options: OpenSweepOptions,
): Steps {
  const { turns = new RequestTurns() } = options;
  const beganMs = context.now();
  if (options.all) yield* requestAll(context);
  for (;;) {
    const batch = await nextBatch(context, {
      queue: "open",
      entities: ["order"],
      untilMs: options.all ? beganMs : context.now(),
      turns,
    });
    if (batch === null) return;
    const ids = batch.waiting.map(({ entityId }) => entityId);
    for await (const requests of requestOrders(context, ids)) {
      batch.spend(requests);
      yield requests;
    }
  }
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
    (answer) => settle(context, orders, answer),
  );
}

/** Records contradictions, and says when each order is requested again. */
function settle(
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
