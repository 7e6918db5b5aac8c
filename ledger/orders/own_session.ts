import type { SessionRequest } from "../events/session_request.ts";
import type { Trust } from "./status.ts";
import {
  beganBy,
  candidateSessions,
  CLICK_SESSIONS_COMPARED,
  isNamed,
  type SessionKeeper,
} from "./sessions.ts";
import { compareTimes } from "../events/time.ts";

/** The session of an order, and how sure that is. */
export interface OwnSession {
  /** What the session asked for. */
  readonly asked: SessionRequest;
  /**
   * `confirmed`: it is the only one that was recorded under the click id which
   * the service shows. `claimed`: there are several, or a webhook names it.
   */
  readonly trust: Trust;
}

/**
 * The session that an order belongs to.
 *
 * 1. Candidates are the sessions that the partner recorded under the click id
 *    of the latest reading, before the order. One candidate: it, confirmed.
 * 2. Several: the one that a webhook names, else the last one made before the
 *    order; claimed. Of too many to tell, only one that a webhook names.
 * 3. None, because the service has not shown the order or its click id, or
 *    nothing was recorded under it: the session that a webhook names, claimed.
 *
 * So a webhook chooses among candidates and never replaces one.
 *
 * @param order Folded facts of the order.
 * @param candidates Its candidates.
 * @returns Null when none is known, or the click id does not tell.
 */
export function ownSession(
  order: SessionKeeper,
  candidates: readonly SessionRequest[] = candidateSessions(order),
): OwnSession | null {
  const last = candidates.at(-1);
  if (last === undefined) {
    return claimed(order.asked.findLast((one) => isNamed(order, one)));
  }
  const told = candidates.length <= CLICK_SESSIONS_COMPARED;
  if (told && candidates.every((one) => one.sessionId === last.sessionId)) {
    return { asked: last, trust: "confirmed" };
  }
  const named = candidates.findLast((one) => isNamed(order, one));
  if (named !== undefined || !told) return claimed(named);
  const began = beganBy(order) ?? "";
  return claimed(
    candidates.findLast((one) => compareTimes(one.recordedAt, began) <= 0) ??
      candidates[0],
  );
}

/**
 * Sessions that webhooks name and that are not candidates of the order.
 *
 * @param order Folded facts of the order.
 * @param candidates Its candidates.
 * @returns Their ids, those named first first; none while there is no candidate.
 */
export function unknownSessions(
  { sessions }: Pick<SessionKeeper, "sessions">,
  candidates: readonly SessionRequest[],
): readonly string[] {
  if (candidates.length === 0) return [];
  return sessions.map(({ sessionId }) => sessionId)
    .filter((id) => !candidates.some(({ sessionId }) => sessionId === id));
}

function claimed(asked: SessionRequest | undefined): OwnSession | null {
  return asked === undefined ? null : { asked, trust: "claimed" };
}
