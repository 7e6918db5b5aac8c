import { backoffMs } from "../../../core/waiting/backoff.ts";
import type { Statement } from "../../store/driver/driver.ts";
import { restUntil } from "../../store/tables/polling/request_queues.ts";
import { upsertIsolated } from "../../store/tables/polling/isolated_ids.ts";
import type { Entity } from "../../entity.ts";

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
  const again = new Date(nowMs + refusedPauseMs(attempts)).toISOString();
  const rests = [[entityId, again] as const];
  return [
    upsertIsolated({
      entity,
      entityId,
      kind: "refused",
      why,
      since: now,
      attempts,
      againAt: again,
    }),
    restUntil("confirm_queue", entity, rests, now),
    restUntil("open_queue", entity, rests, now),
  ];
}

/** Why nothing certain is known of an id, even when it is requested alone. */
const whyAlone = {
  crowded:
    "The service answers with many other orders that have it as click id or external id",
  unnamed: "The service answers with a row without a usable identifier",
} as const;

/**
 * The statement that remembers an id of which nothing certain is known: the
 * answer about it alone holds other orders, or a row without identifier.
 *
 * @param entityId The id.
 * @param kind Which of the two.
 * @param nowMs The time, in milliseconds since the epoch.
 */
export function isolateUnresolved(
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
    againAt: now,
  });
}
