import {
  KINDS,
  type Row as StoredRow,
  type SqlValue,
} from "../../../ledger/testing/mod.ts";
import { check } from "../world/journal.ts";
import { type ExpectedRow, type Shadow, undisputedOf } from "./shadow.ts";
import type { Row, Snapshot } from "./snapshot.ts";

/** Holds the read models against what the pure fold makes of the events. */
export function sameStates(
  { orders, users, hash }: Pick<Snapshot, "orders" | "users" | "hash">,
  shadow: Shadow,
): void {
  const context = { assets: "sandbox", hash } as const;
  sameRows(
    "order",
    orders,
    shadow.orders,
    (row) => KINDS.orders.written(row, context).columns,
  );
  sameRows(
    "user",
    users,
    shadow.users,
    (row) => KINDS.users.written(row, context).columns,
  );
}

/**
 * Holds the release, its reason, attention, booking and session against what they would be had
 * no webhook come: anybody can send one.
 */
export function notForForgers(
  orders: Snapshot["orders"],
  shadow: Shadow,
): void {
  for (const { id, state } of orders) {
    const alone = shadow.undisputed.get(id);
    if (alone === undefined) continue;
    const { release, session, booked, reason, attention } = undisputedOf(
      JSON.parse(state),
    );
    check(
      "no webhook releases or withholds goods",
      release === alone.release,
      () => `order ${id}: ${release}, and without webhooks ${alone.release}`,
    );
    check(
      "no webhook changes what an order is compared with",
      session === alone.session,
      () => `order ${id}: ${session}, and without webhooks ${alone.session}`,
    );
    check(
      "no webhook changes reason, attention or booking of an order that was shown",
      `${booked} ${reason} ${attention}` ===
        `${alone.booked} ${alone.reason} ${alone.attention}`,
      () =>
        `order ${id}: ${booked} ${reason} ${attention}, and without webhooks ` +
        `${alone.booked} ${alone.reason} ${alone.attention}`,
    );
  }
}

/** @param columnsOf What lists filter by, of a row. */
function sameRows<Fold>(
  entity: "order" | "user",
  rows: readonly Row<Fold>[],
  expected: ReadonlyMap<string, ExpectedRow<Fold>>,
  columnsOf: (row: StoredRow<Fold>) => Readonly<Record<string, SqlValue>>,
): void {
  const rule = "states are the fold of the events";
  check(
    rule,
    rows.length === expected.size,
    () =>
      `there are ${rows.length} ${entity}s, the events name ${expected.size}`,
  );
  for (const row of rows) {
    const should = expected.get(row.id);
    for (const part of ["state", "document"] as const) {
      check(
        rule,
        row[part] === should?.[part],
        () =>
          `the ${part} of ${entity} ${row.id} is\n  ${row[part]}\nand should ` +
          `be\n  ${should?.[part]}`,
      );
    }
    if (should === undefined) continue;
    const columns = columnsOf({ ...row.stored, fold: should.fold });
    for (const [name, value] of Object.entries(columns)) {
      check(
        rule,
        row.columns[name] === value,
        () =>
          `column ${name} of ${entity} ${row.id} is ${row.columns[name]}, ` +
          `and should be ${value}`,
      );
    }
  }
}
