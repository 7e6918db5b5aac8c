import {
  deleteConfirmed,
  ENTITIES,
  type Entity,
  type Rest,
  restAfterRead,
  restUntil,
  type Statement,
  type Waiting,
} from "../../ledger/for_sync.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import type { IdsAnswer } from "./request_by_ids.ts";
import { requestEach } from "./request_each.ts";
import { CLOCK_TOLERANCE_MS } from "../../core/time/plausible_time.ts";
import { CONFIRM_AT_LEAST_MS } from "./staleness.ts";
import { nextBatch } from "./request_queue.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { Steps } from "../walk/steps.ts";
import { RequestTurns } from "./request_turns.ts";

/** How to sweep what webhooks named. */
export interface ConfirmSweepOptions {
  /** Ends when all that waits now was requested; else when nothing waits. */
  readonly once: boolean;
  /** Whose turn it is; lives longer than one sweep. */
  readonly turns: RequestTurns;
}

/**
 * Requests the orders and users that webhooks named, 20 at a time. Ids that the
 * service has shown come first, of these the urgent ones and then the longest
 * waiting; unknown ids take at most a quarter of the requests meanwhile, and
 * users at most a quarter while orders wait. An id that is named again while it
 * is requested stays in the queue.
 *
 * @param context What to work with.
 * @param options How to sweep.
 *
 * @example Run it to its end
 * ```ts ignore
 * for await (const requests of sweepConfirm(context)) count += requests;
 * ```
 */
export async function* sweepConfirm(
  context: SweepContext,
  options: ConfirmSweepOptions = { once: true, turns: new RequestTurns() },
): Steps {
  const beganMs = context.now();
  for (;;) {
    const batch = await nextBatch(context, {
      queue: "named",
      entities: ENTITIES,
      untilMs: options.once ? beganMs + CLOCK_TOLERANCE_MS : context.now(),
      turns: options.turns,
    });
    if (batch === null) return;
    const { entity, waiting } = batch;
    const ids = waiting.map((one) => one.entityId);
    const others = ids.filter((id) => !isRequestable(id));
    if (others.length > 0) {
      await context.recorder.write(forget(entity, waiting, others));
      yield 0;
    }
    const requestable = ids.filter(isRequestable);
    if (requestable.length === 0) continue;
    const requesting = requestEach(
      context,
      entity,
      requestable,
      (answer) => settle(context, entity, waiting, answer),
    );
    for await (const requests of requesting) {
      batch.spend(requests);
      yield requests;
    }
  }
}

/** Removes the requested ids from the queue, and sets their pause. */
function settle(
  context: SweepContext,
  entity: Entity,
  waiting: readonly Waiting[],
  answer: IdsAnswer,
): Statement[] {
  const ids = answer.settled;
  // An id that was named again meanwhile is requested once more.
  const shortestMs = context.confirmAtLeastMs ?? CONFIRM_AT_LEAST_MS;
  // Unless a webhook has made it urgent since: that one is not answered yet.
  const rests = waiting.filter(({ entityId }) => ids.includes(entityId)).map(
    ({ entityId, claimedBy }): Rest => [
      entityId,
      answer.requestedAtMs + shortestMs,
      claimedBy,
    ],
  );
  return [
    ...forget(entity, waiting, ids),
    restUntil("named", entity, rests),
    confirmRest(entity, { ...answer, shortestMs }),
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

/** Longest pause between two confirming reads of the same id, in ms. */
const CONFIRM_AT_MOST_MS = 10 * 60_000;

/**
 * The statement that sets the pause after a confirming read: the shortest, and
 * twice as long each time that webhooks named the id again and nothing had
 * changed. So repeated webhooks cost little.
 *
 * @param entity Orders or users.
 * @param answer What the service said, and the shortest pause in ms.
 */
export function confirmRest(
  entity: Entity,
  answer: IdsAnswer & { readonly shortestMs?: number },
): Statement {
  return restAfterRead(entity, {
    ids: answer.settled,
    changed: [...answer.changed],
    requestedAtMs: answer.requestedAtMs,
    shortestMs: answer.shortestMs ?? CONFIRM_AT_LEAST_MS,
    longestMs: CONFIRM_AT_MOST_MS,
  });
}
