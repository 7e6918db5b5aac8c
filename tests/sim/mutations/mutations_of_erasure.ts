import { blind, wrap } from "../world/broken_ports.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import type { Mutation } from "./mutation.ts";

/** What webhooks can do to the erasure of a person. */
export const ERASURE_MUTATIONS: readonly Mutation[] = [
  {
    name: "take an order for a person's that only a webhook names",
    within: 40,
    ports: { copyDriver: takingClaims },
  },
  {
    name: "leave what names nothing but a click id of who is erased",
    within: 80,
    ports: {
      copyDriver: (next) =>
        blind(
          blind(next, "e.order_id IS NULL AND e.user_id IS NULL"),
          "SELECT DISTINCT length FROM erased_values",
        ),
    },
  },
  {
    name: "leave a person in bodies that nobody can read",
    within: 40,
    ports: {
      copyDriver: (next) =>
        blind(next, "SELECT position, until FROM erasure_comparison"),
    },
  },
  {
    name: "know nobody again who was erased",
    within: 40,
    ports: {
      copyDriver: (next) =>
        blind(
          blind(next, "FROM erased_names"),
          "SELECT DISTINCT length FROM erased_values",
        ),
    },
  },
  {
    name: "leave in a spool what a dead process took",
    within: 40,
    ports: { leftSpool: () => () => Promise.resolve() },
  },
];

/** A driver by which claims of orders count as readings when a person goes. */
function takingClaims(next: Driver): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    return results.map((result, at) => {
      const { sql = "" } = statements[at] ?? {};
      const kind = result.columns.indexOf("kind");
      if (kind === -1 || !/WHERE e\.order_id IN .*json_each/.test(sql)) {
        return result;
      }
      const rows = result.rows.map((row) =>
        row[kind] === "webhook" ? row.with(kind, "order_snapshot") : row
      );
      return { ...result, rows };
    });
  });
}
