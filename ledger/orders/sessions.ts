import { addSorted, compareText, type ListRule } from "../sorted_list.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { SessionRequest } from "../events/session_request.ts";
import { compareTimes, earlierTime } from "../events/time.ts";

/** Sessions that webhooks of an order name that are kept. */
export const SESSIONS_KEPT = 16;

/**
 * Sessions under one click id among which an order's own can be told. Where
 * more were made before the order, the partner gives one click id to many
 * customers, and it says nothing.
 */
export const CLICK_SESSIONS_COMPARED = 16;

/** Sessions of a click id that are kept: enough to see that they are too many. */
export const CLICK_SESSIONS_KEPT: number = CLICK_SESSIONS_COMPARED + 1;

/**
 * A session is made before its order, but by two clocks, and the partner may
 * take a moment to record it.
 */
const toleranceMs = 5 * 60_000;

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

/** What tells when an order began. */
export interface Beginning {
  /** The earliest effective creation time that readings state; null without. */
  readonly createdAt: string | null;
  /** The earliest effective time of its readings; null without any. */
  readonly firstReadAt: string | null;
}

/** What decides which sessions of the partner an order keeps. */
export interface SessionKeeper extends Beginning {
  /** A, the latest reading. */
  readonly latest: Pick<OrderReading, "clickId"> | null;
  /** Sessions that webhooks name, those named first first. */
  readonly sessions: readonly NamedSession[];
  /** Sessions kept, earliest first. */
  readonly asked: readonly SessionRequest[];
}

/**
 * Adds a session of the partner. The fold keeps the earliest
 * {@linkcode CLICK_SESSIONS_KEPT} candidates. Of each session that a webhook
 * names it keeps the latest request.
 *
 * It keeps the earliest, because an order can only belong to a session made
 * before it. Later sessions then change nothing.
 *
 * @param order Folded facts of the order.
 * @param asked The session.
 */
export function addSessionRequest(
  order: SessionKeeper,
  asked: SessionRequest,
): readonly SessionRequest[] {
  return keepSessionRequest(
    order,
    addSorted(order.asked, asked, sessionRequestRule),
  );
}

/**
 * Drops sessions that cannot be the order's own.
 *
 * @param order Folded facts of the order.
 * @param all Sessions, earliest first.
 */
export function keepSessionRequest(
  order: SessionKeeper,
  all: readonly SessionRequest[] = order.asked,
): readonly SessionRequest[] {
  if (all.length === 0) return order.asked;
  const candidates = new Set(
    candidateSessions(order, all).slice(0, CLICK_SESSIONS_KEPT),
  );
  const kept = all.filter((one, at) =>
    candidates.has(one) ||
    (isNamed(order, one) &&
      !all.some((other, later) =>
        later > at && other.sessionId === one.sessionId
      ))
  );
  return kept.length === order.asked.length &&
      kept.every((one, at) => one === order.asked[at])
    ? order.asked
    : kept;
}

/**
 * The sessions that can be the order's own: recorded under the click id that A
 * shows, and not after the order was there. Nothing that a webhook says has a
 * part in it.
 *
 * @param order Folded facts of the order.
 * @param all Sessions, earliest first.
 * @returns Those of them, earliest first.
 */
export function candidateSessions(
  order: SessionKeeper,
  all: readonly SessionRequest[] = order.asked,
): readonly SessionRequest[] {
  if (all.length === 0) return all;
  const clickId = order.latest?.clickId ?? null;
  const until = sessionsUntil(order);
  if (clickId === null || until === null) return [];
  return all.filter((one) =>
    one.clickId === clickId && compareTimes(one.recordedAt, until) <= 0
  );
}

/** Whether a webhook of the order names the session. */
export function isNamed(
  { sessions }: Pick<SessionKeeper, "sessions">,
  { sessionId }: SessionRequest,
): boolean {
  return sessions.some((named) => named.sessionId === sessionId);
}

const sessionRequestRule: ListRule<SessionRequest> = {
  compare: compareSessionRequests,
  merge: (known) => known,
};

/** Orders sessions by time, then id, then what they say. */
export function compareSessionRequests(
  a: SessionRequest,
  b: SessionRequest,
): number {
  return compareText(a.recordedAt, b.recordedAt) ||
    compareText(a.sessionId, b.sessionId) ||
    compareText(JSON.stringify(a), JSON.stringify(b));
}

/**
 * When an order was there at the latest, by its readings alone: no webhook may
 * move it. Null before the first reading; from then on it only moves back.
 */
export function beganBy({ createdAt, firstReadAt }: Beginning): string | null {
  return createdAt === null ? firstReadAt : earlierTime(firstReadAt, createdAt);
}

/**
 * The last moment at which a session can have been recorded and yet be the
 * order's own.
 *
 * @param order Folded facts of the order.
 * @returns UTC ISO 8601; null before the first reading of the order.
 */
function sessionsUntil(order: Beginning): string | null {
  const began = beganBy(order);
  if (began === null) return null;
  const ms = Date.parse(began) + toleranceMs;
  return Number.isNaN(ms) ? began : new Date(ms).toISOString();
}

/**
 * Orders that began before it cannot belong to a session.
 *
 * @param recordedAt When the session was recorded, UTC ISO 8601.
 * @returns UTC ISO 8601, early enough to be compared as text with times of any
 * number of decimals.
 */
export function firstOrderAfter(recordedAt: string): string {
  const ms = Date.parse(recordedAt) - toleranceMs - 1000;
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}
