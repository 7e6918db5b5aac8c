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
import {
  insertMany,
  type Rows,
  type SqlValue,
  type Statement,
  statement,
} from "../store/database.ts";
import { matching } from "../machines/pattern.ts";
import type { LoggedReleases } from "../releases/order_release.ts";
import { timeOf } from "../store/events.ts";
import type { Row, Told } from "./rows.ts";
import type { KnownRows } from "./step.ts";

interface Subscriber {
  readonly name: string;
  readonly wants: (
    transition: Pick<NewTransition, "logged"> & Named,
  ) => boolean;
}

type Named = Pick<Transition, "entity" | "machine" | "trust" | "status">;

export const selectSubscribers: Statement = statement(
  "SELECT name, patterns FROM subscriptions",
);

export function subscribersOf(rows: Rows = []): Subscriber[] {
  return rows.map(([name, patterns]) => ({
    name: String(name),
    wants: wanting(JSON.parse(String(patterns)) as string[]),
  }));
}

/**
 * What a subscription takes of the log. A `yes` that was withdrawn before it was
 * told is told when it is `restored`, so who takes the one takes the other.
 */
export function wanting(patterns: readonly string[]): Subscriber["wants"] {
  const matches = matching(patterns);
  return (transition) =>
    matches(transition) ||
    (transition.logged?.entered === "restored" && matches(YES));
}

/** What `order.release.yes` matches. */
export const YES = {
  entity: "order",
  machine: "release",
  trust: "confirmed",
  status: "success",
  logged: { entered: "yes", release: "yes", reason: "session_matched" },
} as const;

/** One that was tried and will be again holds the later ones of its order or user. */
export const isHeld = (no: string, seq: string): string =>
  `EXISTS (SELECT 1 FROM outbox AS f INDEXED BY outbox_entity
    WHERE f.name = ?1 AND f.no = ${no} AND f.seq < ${seq}
      AND f.state IN ('due', 'waiting') AND f.due_at > 0)`;

const INSERT = `INSERT INTO outbox (name, seq, no, state, due_at, attempts)
  SELECT ?1, value ->> 0, value ->> 1, CASE WHEN value ->> 2 THEN 'late'
    WHEN ${isHeld("value ->> 1", "value ->> 0")} THEN 'waiting'
    ELSE 'due' END, 0, 0
  FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

export function insertOutbox(
  name: string,
  rows: readonly {
    readonly seq: number;
    readonly no: number;
    readonly isLate?: boolean;
  }[],
): Statement[] {
  const values = rows.map(({ seq, no, isLate = false }) => [seq, no, isLate]);
  return rows.length === 0
    ? []
    : [{ sql: INSERT, args: [name, JSON.stringify(values)] }];
}

/** The highest number that a transition ever had: an erasure takes out the last ones too. */
export const LAST_SEQ =
  "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'log'), 0)";

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
  const live = logged.filter(({ transition }) => transition.live);
  return [
    ...insertMany(
      "INSERT INTO log",
      logged.map(({ transition, seq, no }) => {
        const { entry, position, live, withheld, historic } = transition;
        const flags = (live ? LIVE : 0) + (withheld ? WITHHELD : 0) +
          (historic ? HISTORIC : 0);
        const code = codeOf(transition);
        return [seq, no, code, entry, position, flags, moreOf(transition)];
      }),
    ),
    ...subscribers.flatMap(({ name, wants }) =>
      insertOutbox(name, live.filter(({ transition }) => wants(transition)))
    ),
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
