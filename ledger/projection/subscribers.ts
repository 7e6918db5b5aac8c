/** Who takes what of the log, and the outboxes that a batch fills for them. */
import type { NewTransition, Transition } from "../machines/transition.ts";
import type { Statement } from "../store/driver/driver.ts";
import { matcher, unlisted } from "../machines/pattern.ts";
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
  const matches = matcher(
    patterns.map((one) => one === "*" ? one : unlisted(one)),
  );
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

/** Puts a transition into the outbox of everybody who wants it. */
export function outboxStatements(
  subscribers: readonly Subscriber[],
  transition: NewTransition,
  { seq, no }: { readonly seq: number; readonly no: number },
): Statement[] {
  if (!transition.live) return [];
  return subscribers.filter(({ wants }) => wants(transition)).map((
    { name },
  ) => ({
    sql: `INSERT INTO outbox (name, seq, no, state, due_at, attempts)
      VALUES (?, ?, ?, 'due', 0, 0)`,
    args: [name, seq, no],
  }));
}
