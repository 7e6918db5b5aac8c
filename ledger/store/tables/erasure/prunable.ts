import type { EventKind } from "../../../machines/event_kind.ts";
import type { Statement } from "../../driver/driver.ts";

/** Kinds of event whose bodies are pruned; the others say nothing personal. */
export const PRUNED_KINDS: readonly EventKind[] = [
  "webhook",
  "order_snapshot",
  "user_snapshot",
  "session_created",
  "order_expected",
  "chain_reading",
];

const prunable = `body IS NOT NULL AND recorded_at < ?1
  AND kind IN (${PRUNED_KINDS.map((kind) => `'${kind}'`).join(", ")})`;

/** Every step of pruning, in its order. */
export const PRUNE_STEPS = ["orders", "users", "others"] as const;

/** What is pruned together, by an index that leads to it. */
export type PruneStep = (typeof PRUNE_STEPS)[number];

/** Selects the next orders, users or positions that have bodies to prune. */
export function selectPrunable(
  step: PruneStep,
  page: {
    readonly before: string;
    readonly after: string | number;
    readonly limit: number;
  },
): Statement {
  const args = [page.before, page.after, page.limit];
  switch (step) {
    case "orders":
      return {
        sql: `SELECT DISTINCT order_id FROM events
          WHERE order_id > ?2 AND ${prunable} ORDER BY order_id LIMIT ?3`,
        args,
      };
    case "users":
      return {
        sql: `SELECT DISTINCT user_id FROM events WHERE user_id > ?2
          AND order_id IS NULL AND ${prunable} ORDER BY user_id LIMIT ?3`,
        args,
      };
    case "others":
      return {
        sql: `SELECT position FROM events WHERE position > ?2
          AND order_id IS NULL AND user_id IS NULL AND ${prunable}
          ORDER BY position LIMIT ?3`,
        args,
      };
  }
}

/** Selects how many bodies are older than a time. */
export function countPrunable(before: string): Statement {
  return {
    sql: `SELECT count(*) FROM events WHERE ${prunable}`,
    args: [before],
  };
}
