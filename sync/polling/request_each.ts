import {
  isRefusal,
  isServiceFailure,
  type ServiceFailure,
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
import { type IdsAnswer, requestByIds } from "./request_by_ids.ts";
import type { SweepContext } from "./sweep_context.ts";
import type { Steps } from "../walk/steps.ts";
import { callOptions } from "../walk/service_lists.ts";
import { backoffMs } from "../../core/waiting/retry_delay.ts";

/**
 * Requests orders or users by id, so that no id keeps the others from being
 * read: a request that the service refuses is split until the refused id stands
 * alone, and that id is set aside. A request is also split where its answer
 * holds too many orders, or rows without identifier.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param ids At most 20 of them, all `isRequestable`.
 * @param finish Makes statements for the batch that settles some of them.
 * @throws {OnrampError} When the service fails every request.
 *
 * @example Request what webhooks named
 * ```ts ignore
 * yield* requestEach(context, "order", ids, (answer) => [forget(answer.settled)]);
 * ```
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
        await context.recorder.write([
          ...finish({ ...answer, settled: [only], unresolved: [] }),
          isolateUnresolved(
            only,
            answer.hasRowsWithoutId ? "unnamed" : "crowded",
            context.now(),
          ),
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
  const { orders, users } = context.client;
  try {
    await (entity === "order"
      ? orders.page({ limit: 1 }, callOptions(context))
      : users.page({ limit: 1 }, callOptions(context)));
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
const pauses = { firstMs: 10_000, longestMs: 3_600_000 };

/**
 * How long a refused id is not requested, in milliseconds.
 *
 * @param attempts Refusals in a row.
 */
export function refusedPauseMs(attempts: number): number {
  return backoffMs(attempts, pauses);
}

/**
 * The statements that set a refused id aside.
 *
 * @param entity Orders or users.
 * @param entityId The id.
 * @param refusal What the service said, refusals so far, and the time in ms.
 */
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
const whyAlone = {
  crowded:
    "The service answers with many other orders that have it as click id or external id",
  unnamed: "The service answers with a row without a usable identifier",
} as const;

/**
 * The statement that remembers an id about which nothing is certain: the answer
 * about it alone holds other orders, or a row without identifier.
 *
 * @param entityId The id.
 * @param kind Which of the two.
 * @param nowMs The time, in milliseconds since the epoch.
 */
function isolateUnresolved(
  entityId: string,
  kind: keyof typeof whyAlone,
  nowMs: number,
): Statement {
  const now = new Date(nowMs).toISOString();
  return upsertIsolated({
    entity: "order",
    entityId,
    kind,
    why: whyAlone[kind],
    since: now,
    attempts: 0,
    nextAttemptAt: now,
  });
}
