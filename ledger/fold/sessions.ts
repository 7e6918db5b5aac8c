import type { SessionAsked } from "./fact.ts";
import { compareTimes, laterTime } from "./time.ts";

/** Sessions that an order names itself that are kept. */
export const SESSIONS_KEPT = 16;

/**
 * Sessions under one click id among which an order's own can be told. Where
 * more were made before the order, the partner gives one click id to many
 * customers, and it says nothing.
 */
export const CLICK_SESSIONS_TOLD = 16;

/** Sessions of a click id that are kept: enough to see that they are too many. */
export const CLICK_SESSIONS_KEPT: number = CLICK_SESSIONS_TOLD + 1;

/**
 * A session is made before its order, but by two clocks, and the partner may
 * take a moment to record it.
 */
const toleranceMs = 5 * 60_000;

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

/** What decides which sessions of the partner an order keeps. */
export interface SessionKeeper extends Beginning {
  /** Sessions that webhooks name. */
  readonly sessions: readonly string[];
  /** Sessions kept, earliest first. */
  readonly asked: readonly SessionAsked[];
}

/**
 * Adds a session of the partner. Kept are, of those that can be the order's
 * own, the earliest {@linkcode CLICK_SESSIONS_KEPT}, and of each session that
 * the order names the latest saying.
 *
 * Earliest, because an order can only belong to sessions before it: those that
 * many orders share stay as they are however many sessions follow.
 *
 * @param order What is known of the order.
 * @param asked The session.
 */
export function addAsked(
  order: SessionKeeper,
  asked: SessionAsked,
): readonly SessionAsked[] {
  return keepAsked(order, insert(order.asked, asked));
}

/**
 * Lets go of sessions that, as is known now, cannot be the order's own.
 *
 * @param order What is known of the order.
 * @param all Sessions, earliest first.
 */
export function keepAsked(
  order: SessionKeeper,
  all: readonly SessionAsked[] = order.asked,
): readonly SessionAsked[] {
  if (all.length === 0) return order.asked;
  const until = sessionsUntil(order);
  const kept = all.filter((one, at) =>
    (at < CLICK_SESSIONS_KEPT &&
      (until === null || compareTimes(one.recordedAt, until) <= 0)) ||
    (order.sessions.includes(one.sessionId) &&
      !all.some((other, later) =>
        later > at && other.sessionId === one.sessionId
      ))
  );
  return kept.length === order.asked.length &&
      kept.every((one, at) => one === order.asked[at])
    ? order.asked
    : kept;
}

function insert(
  all: readonly SessionAsked[],
  asked: SessionAsked,
): readonly SessionAsked[] {
  let at = all.length;
  for (; at > 0; at--) {
    const order = compareAsked(all[at - 1] as SessionAsked, asked);
    if (order === 0) return all;
    if (order < 0) break;
  }
  return all.toSpliced(at, 0, asked);
}

/** Orders sessions by time, then id, then what they say. */
export function compareAsked(a: SessionAsked, b: SessionAsked): number {
  return compare(a.recordedAt, b.recordedAt) ||
    compare(a.sessionId, b.sessionId) ||
    compare(JSON.stringify(a), JSON.stringify(b));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What tells when an order began. */
export interface Beginning {
  /** The earliest creation time that readings state; null without. */
  readonly createdAt: string | null;
  /** What was received. */
  readonly activity: { readonly firstAt: string | null };
}

/** When an order was there at the latest; null while nothing names it. */
export function beganBy({ createdAt, activity }: Beginning): string | null {
  const { firstAt } = activity;
  if (createdAt === null || firstAt === null) return createdAt ?? firstAt;
  return laterTime(createdAt, firstAt) === firstAt ? createdAt : firstAt;
}

/**
 * The last moment at which a session that the order does not name can have
 * been recorded and yet be its own. It only ever moves back.
 *
 * @param order What is known of the order.
 * @returns UTC ISO 8601; null while nothing names the order.
 */
export function sessionsUntil(order: Beginning): string | null {
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

/**
 * The session that an order belongs to: the last that its webhooks name or, of
 * an order that names none, the last one made under its click id before it.
 *
 * @param order What is known of the order.
 * @returns Null when none is known, or the click id does not tell.
 */
export function ownSession(
  order: SessionKeeper,
): SessionAsked | null {
  const { sessions, asked } = order;
  if (asked.length === 0) return null;
  if (sessions.length > 0) {
    return asked.findLast((one) => sessions.includes(one.sessionId)) ?? null;
  }
  const began = beganBy(order);
  const until = sessionsUntil(order);
  if (began === null || until === null) return asked.at(-1) ?? null;
  const possible = asked.filter((one) =>
    compareTimes(one.recordedAt, until) <= 0
  );
  if (possible.length > CLICK_SESSIONS_TOLD) return null;
  return possible.findLast((one) => compareTimes(one.recordedAt, began) <= 0) ??
    possible[0] ?? null;
}
