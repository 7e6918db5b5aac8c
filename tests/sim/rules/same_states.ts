import { decodeOrderFold } from "../../../ledger/for_sync.ts";
import { encodeOrderFold } from "../../../ledger/testing/mod.ts";
import { check } from "../world/journal.ts";
import { type Shadow, undisputedOf } from "./shadow.ts";
import type { Row, Snapshot } from "./snapshot.ts";

/** Holds the read models against what the pure fold makes of the events. */
export function sameStates(
  { orders, users }: Pick<Snapshot, "orders" | "users">,
  shadow: Shadow,
): void {
  sameRows("order", orders, shadow);
  sameRows("user", users, shadow);
}

/**
 * Holds the release, its reason, attention, booking and session against what they would be had
 * no webhook come: anybody can send one.
 */
export function notForForgers(orders: readonly Row[], shadow: Shadow): void {
  for (const { id, state } of orders) {
    const alone = shadow.undisputed.get(id);
    // A state may have been folded before a body of it was erased.
    if (alone === undefined || shadow.afterErasure("order", id)) continue;
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

function sameRows(
  entity: "order" | "user",
  rows: readonly Row[],
  shadow: Shadow,
): void {
  const rule = "states are the fold of the events";
  const expected = entity === "order" ? shadow.orders : shadow.users;
  check(
    rule,
    rows.length === expected.size,
    () =>
      `there are ${rows.length} ${entity}s, the events name ${expected.size}`,
  );
  for (const row of rows) {
    const should = expected.get(row.id);
    const without = shadow.afterErasure(entity, row.id);
    // What a state says, the fold of an order leaves out beside it.
    const is = entity === "user"
      ? row
      : { ...row, fold: encodeOrderFold(decodeOrderFold(row.fold)) };
    for (const part of ["state", "activity", "fold"] as const) {
      check(
        rule,
        is[part] === should?.[part] ||
          (without !== null && is[part] === without[part]),
        () =>
          `the ${part} of ${entity} ${row.id} is\n  ${is[part]}\nand should ` +
          `be\n  ${should?.[part]}`,
      );
    }
  }
}
