import { compareText } from "../machines/sorted_list.ts";
import { compareTimes, earlierTime } from "../events/time.ts";

/** Sessions that webhooks of an order name that are kept. */
export const SESSIONS_KEPT = 16;

/** A session that webhooks of an order name. */
export interface NamedSession {
  /** Session identifier. */
  readonly sessionId: string;
  /** `recordedAt` of the first webhook that named it. */
  readonly firstAt: string;
}

/**
 * Adds a session that a webhook names. Those named first are kept, so that
 * a forged webhook cannot push them out later.
 */
export function addSession(
  sessions: readonly NamedSession[],
  sessionId: string,
  recordedAt: string,
): readonly NamedSession[] {
  const known = sessions.findIndex((one) => one.sessionId === sessionId);
  const firstAt = earlierTime(sessions[known]?.firstAt ?? null, recordedAt);
  if (sessions[known]?.firstAt === firstAt) return sessions;
  const named = { sessionId, firstAt };
  const rest = known === -1 ? sessions : sessions.toSpliced(known, 1);
  const later = rest.findIndex((one) => compareNamed(one, named) > 0);
  return rest.toSpliced(later === -1 ? rest.length : later, 0, named)
    .slice(0, SESSIONS_KEPT);
}

function compareNamed(a: NamedSession, b: NamedSession): number {
  return compareTimes(a.firstAt, b.firstAt) ||
    compareText(a.sessionId, b.sessionId);
}
