import type { SessionAsked } from "./fact.ts";

/** Sessions an order was seen in, and sessions linked to it, that are kept. */
export const SESSIONS_KEPT = 16;

/** Adds a session that a webhook names; the lowest ids are kept. */
export function addSession(
  sessions: readonly string[],
  id: string,
): readonly string[] {
  let at = 0;
  for (const session of sessions) {
    if (session === id) return sessions;
    if (session > id) break;
    at++;
  }
  return at >= SESSIONS_KEPT
    ? sessions
    : sessions.toSpliced(at, 0, id).slice(0, SESSIONS_KEPT);
}

/** Keeps the latest sessions by (recordedAt, id, content), each saying once. */
export function addAsked(
  all: readonly SessionAsked[],
  asked: SessionAsked,
): readonly SessionAsked[] {
  const content = JSON.stringify(asked);
  let at = 0;
  for (const other of all) {
    if (
      other.recordedAt < asked.recordedAt ||
      (other.recordedAt === asked.recordedAt &&
        other.sessionId < asked.sessionId)
    ) break;
    if (
      other.recordedAt === asked.recordedAt &&
      other.sessionId === asked.sessionId
    ) {
      const text = JSON.stringify(other);
      if (text === content) return all;
      if (text < content) break;
    }
    at++;
  }
  return at >= SESSIONS_KEPT
    ? all
    : all.toSpliced(at, 0, asked).slice(0, SESSIONS_KEPT);
}
