import { type ForwardTarget, TARGET } from "./forward_targets.ts";
import { Columns, json, plain } from "../columns.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { expectRow } from "../../driver/expect_row.ts";
import { databaseNow, SUBSCRIPTION_LEASE } from "../leases.ts";

/**
 * How far each subscription is in the log of transitions. Each write of a
 * process that delivers raises the revision: so two of them notice each other,
 * and what a replica shows is known to be old. `historic_seq` is the place up to
 * which a person had it told of what had happened before the ledger went live.
 */
export const subscriptionsSchema: readonly string[] = [
  `CREATE TABLE subscriptions (
    name TEXT PRIMARY KEY,
    patterns TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    historic_seq INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
];

/** Where a subscription is in the log, and how often that was written. */
export interface SubscriptionPlace {
  /** The checkpoint: everything up to it is delivered or queued. */
  readonly seq: number;
  /** Raised by each write. */
  readonly revision: number;
}

/** Selects {@linkcode SubscriptionPlace}: checkpoint and revision. */
export function selectPlace(name: string): Statement {
  return {
    sql: "SELECT seq, revision FROM subscriptions WHERE name = ?",
    args: [name],
  };
}

/** Reads the answer of {@linkcode selectPlace}. */
export function placeOf(result: ResultSet | undefined): SubscriptionPlace {
  const [seq, revision] = result?.rows[0] ?? [];
  return { seq: Number(seq ?? 0), revision: Number(revision ?? 0) };
}

/**
 * The statements that move a subscription's checkpoint. Their batch fails with
 * `conflict` when another process has written since.
 *
 * @param name Name of the subscription.
 * @param from Where it was read.
 * @param to Where the checkpoint moves to.
 */
export function moveSubscription(
  name: string,
  from: SubscriptionPlace,
  to: number,
): Statement[] {
  return [
    expectRow("subscriptions", { name, ...from }),
    {
      sql: `UPDATE subscriptions SET seq = ?, revision = revision + 1
        WHERE name = ?`,
      args: [to, name],
    },
  ];
}

/**
 * Creates a subscription, or changes what an existing one takes.
 *
 * @param name Its name.
 * @param how What it takes; whether a new one begins with what happens from
 * now on; and the time, UTC ISO 8601.
 */
export function upsertSubscription(
  name: string,
  how: {
    readonly patterns: readonly string[];
    readonly from: "start" | "now";
    readonly createdAt: string;
  },
): Statement {
  return {
    sql: `INSERT INTO subscriptions (name, patterns, seq, created_at)
      SELECT ?1, ?2, CASE WHEN ?3 = 'start' THEN 0
        ELSE coalesce((SELECT max(seq) FROM transitions), 0) END, ?4
      WHERE true ON CONFLICT (name) DO UPDATE SET patterns = excluded.patterns`,
    args: [name, JSON.stringify(how.patterns), how.from, how.createdAt],
  };
}

/** Progress of a subscription. */
export interface SubscriptionStatus {
  /** Its name. */
  readonly name: string;
  /** What it takes. */
  readonly on: readonly string[];
  /** When it was first used, UTC ISO 8601. */
  readonly createdAt: string;
  /** Transitions after its checkpoint, whether it takes them or not. */
  readonly behind: number;
  /** Deliveries that failed and are tried again. */
  readonly retrying: number;
  /** Deliveries that wait for an earlier one of the same entity. */
  readonly waiting: number;
  /** Deliveries that failed permanently after all attempts. */
  readonly dead: number;
  /** Error of one that is being retried; null without any. */
  readonly lastError: string | null;
  /** Where it is forwarded to; null of a subscription of your own program. */
  readonly target: ForwardTarget | null;
}

/** What is selected of a subscription that a statement calls `s`. */
export const SUBSCRIPTIONS: Columns<Omit<SubscriptionStatus, "target">> =
  new Columns({
    name: ["s.name", plain()],
    on: ["s.patterns", json()],
    createdAt: ["s.created_at", plain()],
    behind: [
      `(SELECT count(*) FROM (SELECT 1 FROM transitions AS t
        WHERE t.seq > s.seq LIMIT ?1))`,
      plain(),
    ],
    retrying: [countQueued("retrying"), plain()],
    waiting: [countQueued("waiting"), plain()],
    dead: [countQueued("dead"), plain()],
    lastError: [
      `(SELECT l.error FROM queued_transitions AS l
      WHERE l.subscription = s.name AND l.state = 'retrying'
      ORDER BY l.due_at DESC LIMIT 1)`,
      plain(),
    ],
  });

/**
 * Selects all subscriptions, each with its target.
 *
 * @param countUpTo More than this is not counted.
 */
export function selectSubscriptions(
  countUpTo: number = Number.MAX_SAFE_INTEGER,
): Statement {
  return {
    sql: `SELECT ${SUBSCRIPTIONS.list()}, ${TARGET.list("f")}
    FROM subscriptions AS s LEFT JOIN forward_targets AS f ON f.name = s.name
    ORDER BY s.name`,
    args: [countUpTo],
  };
}

/**
 * Selects name, and time of the first transition after the checkpoint, of the
 * subscriptions where that is older than a time and nobody holds the lease.
 */
export function selectUnattended(before: string): Statement {
  return {
    sql: `SELECT s.name, t.recorded_at FROM subscriptions AS s
      JOIN transitions AS t ON t.seq =
        (SELECT min(n.seq) FROM transitions AS n WHERE n.seq > s.seq)
      WHERE t.recorded_at < ?1 AND NOT EXISTS (SELECT 1 FROM poll_lease AS l
        WHERE l.name = '${SUBSCRIPTION_LEASE}' || s.name
          AND l.expires_at > ${databaseNow})
      ORDER BY s.name`,
    args: [before],
  };
}

function countQueued(state: string): string {
  return `(SELECT count(*) FROM (SELECT 1 FROM queued_transitions AS l
    WHERE l.subscription = s.name AND l.state = '${state}' LIMIT ?1))`;
}
