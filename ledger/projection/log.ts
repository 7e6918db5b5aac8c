/** The log of transitions: what is told of a batch, and how it is stored. */
import {
  type LoggedRelease,
  type NewTransition,
  type ReleaseEntry,
  type Transition,
  transitionKey,
  transitionName,
  type VisibleStatus,
} from "../machines/transition.ts";
import type { LoggedReleases } from "../releases/release_log.ts";
import type { SqlValue, Statement } from "../store/driver/driver.ts";
import { timeOf } from "../store/events.ts";
import type { Row, Told } from "./doc.ts";
import type { KnownRows } from "./step.ts";
import { outboxStatements, type Subscriber } from "./subscribers.ts";

export const LIVE = 1;
export const WITHHELD = 2;
export const HISTORIC = 4;

/**
 * Tells what an entity entered, unless that was told before: of the status of an
 * order and of all that is claimed the first entry alone, of what recurs each change.
 */
export function tell(
  told: Told,
  transition: NewTransition,
): { readonly told: Told; readonly transition: NewTransition } | null {
  if (transition.logged !== null) {
    const { logged: { entered }, entry, live, withheld } = transition;
    const { withheld: _before, ...rest } = told;
    const waits = withheld && !live;
    const key = entered === "restored"
      ? ["yes", 1] as const
      : [entered, entry] as const;
    return { told: waits ? { ...rest, withheld: key } : rest, transition };
  }
  const { machine, trust, status } = transition;
  const recurs = machine === "witness" ||
    (machine !== "order" && trust === "confirmed");
  const code = codeOf(transition);
  const before = told.times[code];
  if (recurs ? told.last[machine] === status : before !== undefined) {
    return null;
  }
  const entry = (before ?? 0) + 1;
  const next = { ...told, times: { ...told.times, [code]: entry } };
  return {
    told: recurs
      ? { ...next, last: { ...told.last, [machine]: status } }
      : next,
    transition: { ...transition, entry },
  };
}

/** Tells what is news, and notes with the rows what was told. */
export function tellAll(
  { orders, users }: KnownRows,
  { orders: releases, transitions }: Pick<
    LoggedReleases,
    "orders" | "transitions"
  >,
): NewTransition[] {
  for (const [id, release] of releases) {
    const row = orders.get(id);
    if (row === undefined) continue;
    orders.set(id, { ...row, told: { ...row.told, release } });
  }
  return transitions.flatMap((transition) => {
    // What was told is of the same form for both.
    const rows: Map<string, Row<unknown>> = transition.entity === "order"
      ? orders
      : users;
    const row = rows.get(transition.id);
    const news = row && tell(row.told, transition);
    if (!news) return [];
    rows.set(transition.id, { ...row, told: news.told });
    return [news.transition];
  });
}

export function logStatements(
  transitions: readonly NewTransition[],
  { orders, users }: KnownRows,
  { lastSeq, subscribers }: {
    readonly lastSeq: number;
    readonly subscribers: readonly Subscriber[];
  },
): Statement[] {
  const logged = transitions.map((transition, at) => {
    const rows = transition.entity === "order" ? orders : users;
    const no = rows.get(transition.id)?.no ?? 0;
    return { transition, seq: lastSeq + at + 1, no };
  });
  return [
    ...logged.map(({ transition, ...place }) =>
      insertTransition(transition, place)
    ),
    ...outboxStatements(subscribers, logged),
  ];
}

/** The name of a transition within its entity: `confirmed.success`, `release.yes`. */
export function codeOf(
  transition: Parameters<typeof transitionName>[0],
): string {
  const { entity, machine, trust, status } = transitionName(transition);
  return entity === "order"
    ? `${trust}.${status}`
    : `${machine}.${trust}.${status}`;
}

export function insertTransition(
  transition: NewTransition,
  { seq, no }: { readonly seq: number; readonly no: number },
): Statement {
  const { entry, position, live, withheld, historic } = transition;
  const flags = (live ? LIVE : 0) + (withheld ? WITHHELD : 0) +
    (historic ? HISTORIC : 0);
  const code = codeOf(transition);
  return {
    sql: "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)",
    args: [seq, no, code, entry, position, flags, moreOf(transition)],
  };
}

/** What the columns do not say; null where that is nothing. */
function moreOf(
  { previous, reverses, logged, trust, status, after }: NewTransition,
): string | null {
  const more: More = {
    ...previous && { previous: [previous.trust, previous.status] },
    ...reverses.length > 0 && { reverses },
    ...logged && { shown: [trust, status], reason: logged.reason },
    ...after.length > 0 && { after },
  };
  return Object.keys(more).length === 0 ? null : JSON.stringify(more);
}

interface More {
  readonly previous?: readonly [trust: VisibleStatus["trust"], status: string];
  readonly reverses?: readonly string[];
  /** Of a release: what its order showed. */
  readonly shown?: readonly string[];
  readonly reason?: string;
  readonly after?: readonly string[];
}

export const TRANSITIONS = `t.seq, t.no, t.code, t.entry, t.position, t.flags,
    t.more, coalesce(o.id, u.id), e.recorded_at
  FROM log AS t LEFT JOIN orders AS o ON o.no = t.no AND t.no % 2 = 0
    LEFT JOIN users AS u ON u.no = t.no AND t.no % 2 = 1
    LEFT JOIN events AS e ON e.position = t.position`;

export interface LoggedTransition extends Transition {
  readonly no: number;
  readonly withheld: boolean;
  readonly historic: boolean;
}

/** A transition as handlers and the feed see it. */
export function shownOf(
  { no: _no, withheld: _withheld, historic: _historic, ...shown }:
    LoggedTransition,
): Transition {
  return shown;
}

export function transitionOf(row: readonly SqlValue[]): LoggedTransition {
  const [seq, no, code, entry, position, flags, json, id, recordedAt] = row;
  const more: More = JSON.parse(String(json ?? "{}"));
  const { previous, shown = [], reason = "" } = more;
  const has = (flag: number) => (Number(flags) & flag) !== 0;
  const isUser = Number(no) % 2 === 1;
  const parts = String(code).split(".");
  const first = isUser ? parts.shift() : parts[0];
  const [trust = "", ...rest] = parts;
  const status = rest.join(".");
  const isRelease = first === "release";
  const name = {
    entity: isUser ? "user" : "order",
    machine: isUser || isRelease || first === "witness" ? first : "order",
    id: String(id ?? ""),
    ...{ trust, status, entry: Number(entry) },
  } as Parameters<typeof transitionKey>[0];
  return {
    ...name,
    ...isRelease && { trust: shown[0] ?? "", status: shown[1] ?? "" },
    key: transitionKey(name),
    previous: previous ? { trust: previous[0], status: previous[1] } : null,
    reverses: more.reverses ?? [],
    logged: !isRelease ? null : {
      entered: status as ReleaseEntry,
      release: (status === "restored" ? "yes" : status) as LoggedRelease[
        "release"
      ],
      reason,
    },
    after: more.after ?? [],
    position: Number(position),
    recordedAt: timeOf(recordedAt) ?? "",
    ...{ seq: Number(seq), no: Number(no) },
    ...{ live: has(LIVE), withheld: has(WITHHELD), historic: has(HISTORIC) },
  };
}
