/** Who takes what of the log, and the outboxes that a batch fills for them. */
import type { NewTransition, Transition } from "../machines/transition.ts";
import type { Statement } from "../store/driver/driver.ts";
import { matching } from "../machines/pattern.ts";
import type { Rows } from "../store/database.ts";

/** A subscription, as far as a batch has to know it. */
export interface Subscriber {
  readonly name: string;
  readonly wants: (
    transition: Pick<NewTransition, "logged"> & Named,
  ) => boolean;
}

type Named = Pick<Transition, "entity" | "machine" | "trust" | "status">;

export const selectSubscribers: Statement = {
  sql: "SELECT name, patterns FROM subscriptions",
  args: [],
};

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

export function outboxStatements(
  subscribers: readonly Subscriber[],
  logged: readonly {
    readonly transition: NewTransition;
    readonly seq: number;
    readonly no: number;
  }[],
): Statement[] {
  const live = logged.filter(({ transition }) => transition.live);
  return subscribers.flatMap(({ name, wants }) =>
    insertOutbox(name, live.filter(({ transition }) => wants(transition)))
  );
}

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
