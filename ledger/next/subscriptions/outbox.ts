/** What the batch that folds puts into the outbox of each subscription. */
import type { NewTransition } from "../../machines/transition.ts";
import type { Statement } from "../../store/driver/driver.ts";
import { matcher, unlisted } from "../../subscriptions/pattern.ts";
import type { Rows } from "../store/database.ts";

/** A subscription, as far as a batch has to know it. */
export interface Subscriber {
  readonly name: string;
  readonly wants: (transition: NewTransition) => boolean;
}

export const selectSubscribers: Statement = {
  sql: "SELECT name, patterns FROM subscriptions",
  args: [],
};

export function subscribersOf(rows: Rows = []): Subscriber[] {
  return rows.map(([name, patterns]) => ({
    name: String(name),
    wants: matcher(
      (JSON.parse(String(patterns)) as string[]).map((one) =>
        one === "*" ? one : unlisted(one)
      ),
    ),
  }));
}

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
