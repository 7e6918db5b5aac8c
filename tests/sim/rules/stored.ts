import type { OrderState, UserState } from "../../../ledger/mod.ts";
import { type Driver, orderState } from "../../../ledger/for_sync.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  type RecordedEvent,
  type SqlValue,
  unpackOrder,
  unpackUser,
  userState,
} from "../../../ledger/testing/mod.ts";

/** Who looks at a database without faults. */
interface Looking {
  readonly store: Driver;
}

/** Rows of the database, without faults. */
export async function rows(
  { store }: Looking,
  sql: string,
  ...args: readonly SqlValue[]
): Promise<readonly (readonly SqlValue[])[]> {
  const [found] = await store.batch([{ sql, args }], "read");
  return found?.rows ?? [];
}

/**
 * Events as they are stored, by position.
 *
 * @param where Which of them, `e` being the table.
 */
export async function eventsIn(
  looking: Looking,
  where: string = "true",
  ...args: readonly SqlValue[]
): Promise<RecordedEvent[]> {
  return eventsOf(
    await rows(
      looking,
      `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE ${where} ORDER BY e.position`,
      ...args,
    ),
  );
}

/**
 * States of orders, by id.
 *
 * @param where Which of them.
 */
export async function ordersIn(
  looking: Looking,
  where: string = "true",
  ...args: readonly SqlValue[]
): Promise<Map<string, OrderState>> {
  const found = await rows(
    looking,
    `SELECT id, fold FROM orders WHERE ${where} ORDER BY no`,
    ...args,
  );
  return new Map(found.map(([id, fold]) => [
    String(id),
    orderState(unpackOrder(String(id), String(fold)), { assets: "sandbox" }),
  ]));
}

/** States of users, by id; see {@linkcode ordersIn}. */
export async function usersIn(
  looking: Looking,
  where: string = "true",
  ...args: readonly SqlValue[]
): Promise<Map<string, UserState>> {
  const found = await rows(
    looking,
    `SELECT id, fold FROM users WHERE ${where} ORDER BY no`,
    ...args,
  );
  return new Map(
    found.map(([id, fold]) => [
      String(id),
      userState(unpackUser(String(id), String(fold))),
    ]),
  );
}
