import type { ResolveOptions } from "../fold/resolve_order.ts";
import type { Statement } from "../store/driver.ts";
import type { Changes } from "./fold_window.ts";
import { type PackedRow, packedText, packRows } from "./packed_rows.ts";
import { orderRow, userRow } from "./rows.ts";

/** Where changes go. */
export interface WriteOptions extends ResolveOptions {
  /** Generation of the states. */
  readonly generation: number;
  /** Whether readers see it: only then are there transitions and wishes. */
  readonly live: boolean;
}

/**
 * The statements that write what a window changed, one a table.
 *
 * @param changes What changed.
 * @param options Where it goes.
 * @returns Statements for one write batch, behind its guard.
 */
export function writeChanges(
  changes: Changes,
  options: WriteOptions,
): Statement[] {
  const { generation, live } = options;
  const statements: Statement[] = [];
  const add = (sql: string, rows: readonly (readonly unknown[])[]) => {
    if (rows.length === 0) return;
    statements.push({ sql, args: [generation, JSON.stringify(rows)] });
  };
  if (changes.orders.size > 0) {
    statements.push(upsertOrders(
      generation,
      [...changes.orders.values()].map((fold) => orderRow(fold, options)),
    ));
  }
  if (changes.users.size > 0) {
    statements.push(
      upsertUsers(generation, [...changes.users.values()].map(userRow)),
    );
  }
  add(
    insertOrderLinks,
    changes.orderLinks.map(({ kind, link, beganBy, orderId }) => [
      kind,
      link,
      beganBy,
      orderId,
    ]),
  );
  add(
    insertSessionLinks,
    changes.sessionLinks.map(({ kind, link, session }) => [
      kind,
      link,
      session.recordedAt,
      session.position,
    ]),
  );
  add(insertUnanswered, changes.unanswered.map((id) => [id]));
  if (!live) return statements;
  add(
    insertTransitions,
    changes.transitions.map((transition) => [
      transition.entity,
      transition.id,
      transition.trust,
      transition.status,
      transition.position,
      transition.recordedAt,
      transition.live ? 1 : 0,
    ]),
  );
  add(upsertConfirms, [
    ...[...changes.ordersToConfirm].map(([id, at]) => ["order", id, at]),
    ...[...changes.usersToConfirm].map(([id, at]) => ["user", id, at]),
  ]);
  return statements;
}

const insertOrderLinks =
  `INSERT INTO order_links (generation, kind, link, began_by, order_id)
  SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3
  FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

const insertSessionLinks =
  `INSERT INTO session_links (generation, kind, link, recorded_at, position)
  SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3
  FROM json_each(?2) WHERE true ON CONFLICT DO NOTHING`;

const insertUnanswered = `INSERT INTO unanswered_deliveries (event_id)
  SELECT value ->> 0 FROM json_each(?2) WHERE ?1 IS NOT NULL
  ON CONFLICT DO NOTHING`;

const insertTransitions = `INSERT INTO transitions
    (entity, entity_id, trust, status, position, recorded_at, live)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
    value ->> 4, value ->> 5, value ->> 6
  FROM json_each(?2) WHERE ?1 IS NOT NULL ORDER BY key
  ON CONFLICT DO NOTHING`;

const upsertConfirms = `INSERT INTO confirm_queue (entity, entity_id, wanted_at)
  SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?2)
  WHERE ?1 IS NOT NULL
  ON CONFLICT (entity, entity_id) DO UPDATE SET wanted_at = excluded.wanted_at
  WHERE excluded.wanted_at > confirm_queue.wanted_at`;

function upsertOrders(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return {
    sql: `INSERT INTO orders (generation, order_id, status, trust, open,
        user_id, commodity, sort_at, anomalies, state, activity, fold)
      SELECT ?3, r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3,
        r.value ->> 4, r.value ->> 5, r.value ->> 6, r.value ->> 7,
        ${packedText(8, 0)}, ${packedText(8, 1)}, ${packedText(8, 2)}
      FROM json_each(?2) AS r WHERE true
      ON CONFLICT (generation, order_id) DO UPDATE SET
        status = excluded.status, trust = excluded.trust, open = excluded.open,
        user_id = excluded.user_id, commodity = excluded.commodity,
        sort_at = excluded.sort_at, anomalies = excluded.anomalies,
        state = excluded.state, activity = excluded.activity,
        fold = excluded.fold`,
    args: [...packRows(rows), generation],
  };
}

function upsertUsers(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return {
    sql: `INSERT INTO users (generation, user_id, status, trust, sort_at,
        state, activity, fold)
      SELECT ?3, r.value ->> 0, r.value ->> 1, r.value ->> 2, r.value ->> 3,
        ${packedText(4, 0)}, ${packedText(4, 1)}, ${packedText(4, 2)}
      FROM json_each(?2) AS r WHERE true
      ON CONFLICT (generation, user_id) DO UPDATE SET
        status = excluded.status, trust = excluded.trust,
        sort_at = excluded.sort_at, state = excluded.state,
        activity = excluded.activity, fold = excluded.fold`,
    args: [...packRows(rows), generation],
  };
}
