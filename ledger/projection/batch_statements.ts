import type { ResolveOptions } from "../orders/resolve_order.ts";
import { queueChanges } from "./queue_changes.ts";
import type { Statement } from "../store/driver/driver.ts";
import {
  type Checkpoint,
  expectCheckpoint,
  moveCheckpoint,
  type ProjectionSlot,
} from "../store/tables/checkpoints.ts";
import { insertExpectations } from "../store/tables/events/expectations.ts";
import { insertOrderLinks } from "../store/tables/events/links.ts";
import type { LoggedReleases } from "../releases/log_releases.ts";
import { deleteHistoric, insertHistoric } from "../store/tables/go_live.ts";
import { purchaseStatements } from "./purchase_statements.ts";
import { expectNotBegun } from "../store/tables/subscriptions/release_deliveries.ts";
import { insertTransitions } from "../store/tables/transitions.ts";
import { insertUnanswered } from "../store/tables/unanswered.ts";
import { upsertOrders } from "../store/tables/orders.ts";
import { upsertUsers } from "../store/tables/users.ts";
import type { Changes } from "./batch.ts";
import { OPEN_COLUMN, orderRow, userRow } from "./codec/rows.ts";

/** Where a batch is written. */
export interface WriteOptions {
  /** Which states. */
  readonly slot: ProjectionSlot;
  /** The checkpoint that the batch was loaded at. */
  readonly from: Checkpoint;
  /** The checkpoint that it moves to. */
  readonly to: Checkpoint;
  /** How states are worked out of folds. */
  readonly resolve: ResolveOptions;
  /** What is logged, and which purchases are taken. */
  readonly releases: LoggedReleases;
}

/**
 * The statements that write what a batch changed and move the checkpoint. All of
 * them are refused with `conflict` when another process moved it.
 *
 * @param changes What changed.
 * @param options Where it goes.
 */
export function batchStatements(
  changes: Changes,
  { slot, from, to, resolve, releases }: WriteOptions,
): Statement[] {
  return [
    expectCheckpoint(slot, from),
    ...[...releases.notBegun].map(expectNotBegun),
    moveCheckpoint(slot, to.position),
    ...writeChanges(changes, { slot, from, resolve, releases }),
  ];
}

/** The statements that write what changed, one or two a table. */
function writeChanges(
  changes: Changes,
  { slot, from: { generation }, resolve, releases }: Omit<WriteOptions, "to">,
): Statement[] {
  const statements: Statement[] = [];
  const orders = [...changes.orders.values()].map((fold) => ({
    fold,
    row: orderRow(fold, resolve),
  }));
  if (orders.length > 0) {
    statements.push(upsertOrders(generation, orders.map(({ row }) => row)));
  }
  if (changes.users.size > 0) {
    statements.push(
      upsertUsers(generation, [...changes.users.values()].map(userRow)),
    );
  }
  const { orderLinks, expectations, unanswered } = changes;
  if (orderLinks.length > 0) {
    statements.push(insertOrderLinks(generation, orderLinks));
  }
  if (expectations.length > 0) {
    statements.push(insertExpectations(generation, expectations));
  }
  if (unanswered.length > 0) statements.push(insertUnanswered(unanswered));
  if (slot !== "live") return statements;
  const { historic, revived } = changes;
  if (historic.size > 0) statements.push(insertHistoric(historic));
  if (revived.size > 0) statements.push(deleteHistoric([...revived]));
  statements.push(...purchaseStatements(releases));
  if (releases.transitions.length > 0) {
    statements.push(insertTransitions(releases.transitions));
  }
  const changed = orders.map(({ fold, row }) => ({
    fold,
    open: row.columns[OPEN_COLUMN] === 1,
  }));
  statements.push(...queueChanges(changes, changed));
  return statements;
}
