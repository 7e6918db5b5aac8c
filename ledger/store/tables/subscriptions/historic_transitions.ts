import type { Transition } from "../../../machines/transition.ts";
import type { ResultSet, Statement } from "../../driver/driver.ts";
import { expectRow } from "../../driver/expect_row.ts";
import { transitionOf, TRANSITIONS } from "../transitions.ts";

/** A transition from before the ledger went live. */
export interface HistoricTransition {
  /** The transition. */
  readonly transition: Transition;
  /** Whether subscribers received a later one of its order or user. */
  readonly overtaken: boolean;
}

/** Selects what a subscription takes, and how much of the past it was sent. */
export function selectHistoricPlace(name: string): Statement {
  return {
    sql: "SELECT patterns, historic_seq FROM subscriptions WHERE name = ?",
    args: [name],
  };
}

/**
 * Selects the next transitions from before the ledger went live.
 *
 * @param after The place after which they are.
 * @param limit Most of them.
 */
export function selectHistoric(after: number, limit: number): Statement {
  return {
    sql: `SELECT ${TRANSITIONS.list()},
        EXISTS (SELECT 1 FROM transitions AS l WHERE l.entity = t.entity
          AND l.entity_id = t.entity_id AND l.live = 1 AND l.seq > t.seq)
      FROM transitions AS t WHERE historic = 1 AND seq > ?
      ORDER BY seq LIMIT ?`,
    args: [after, limit],
  };
}

/** Reads the answer of {@linkcode selectHistoric}. */
export function historicOf(
  result: ResultSet | undefined,
): HistoricTransition[] {
  return result?.rows.map((row) => ({
    transition: transitionOf(row),
    overtaken: row.at(-1) === 1,
  })) ?? [];
}

/**
 * The statements that note how much of the past a subscription was sent. Their
 * batch fails with `conflict` when somebody else has noted more.
 *
 * @param name Name of the subscription.
 * @param from The place that was read.
 * @param to The place that is reached.
 */
export function moveHistoric(
  name: string,
  from: number,
  to: number,
): Statement[] {
  return [
    expectRow("subscriptions", { name, historic_seq: from }),
    {
      sql: "UPDATE subscriptions SET historic_seq = ? WHERE name = ?",
      args: [to, name],
    },
  ];
}
