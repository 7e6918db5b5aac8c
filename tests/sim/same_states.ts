import { check } from "./journal.ts";
import type { Shadow } from "./shadow.ts";
import type { Row, Snapshot } from "./snapshot.ts";

/** Holds the read models against what the pure fold makes of the events. */
export function sameStates(
  { orders, users }: Pick<Snapshot, "orders" | "users">,
  shadow: Shadow,
): void {
  sameRows("order", orders, shadow);
  sameRows("user", users, shadow);
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
    for (const part of ["state", "activity", "fold"] as const) {
      check(
        rule,
        row[part] === should?.[part] ||
          (without !== null && row[part] === without[part]),
        () =>
          `the ${part} of ${entity} ${row.id} is\n  ${row[part]}\nand should ` +
          `be\n  ${should?.[part]}`,
      );
    }
  }
}
