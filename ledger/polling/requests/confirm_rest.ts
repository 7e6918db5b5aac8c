import type { Statement } from "../../store/driver/driver.ts";
import { restAfterRead } from "../../store/tables/polling/observations.ts";
import type { IdsAnswer } from "./request_by_ids.ts";
import type { Entity } from "../../entity.ts";
import { CONFIRM_AT_LEAST_MS } from "../staleness.ts";

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
    requestedAt: new Date(answer.requestedAtMs).toISOString(),
    shortestMs: answer.shortestMs ?? CONFIRM_AT_LEAST_MS,
    longestMs: CONFIRM_AT_MOST_MS,
  });
}
