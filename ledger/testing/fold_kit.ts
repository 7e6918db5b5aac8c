/** Ledgers in memory, and what tests of the fold read of them. */
import { activityOf } from "../orders/order_fold.ts";
import type { NewEvent } from "../events/event.ts";
import { orderActivity } from "../orders/order_status.ts";
import { orderState } from "../states/order_state.ts";
import { openDriver } from "../thread/open_driver.ts";
import { decidingMode, type Driver, type SqlValue } from "../store/database.ts";
import { at, type States } from "./projection_test_kit.ts";
import { userState } from "../users/user_state.ts";
import { unpackOrder, unpackUser } from "../projection/rows.ts";
import { transitionOf, TRANSITIONS } from "../projection/log.ts";
import { FOLD, project, type ProjectOptions } from "../projection/project.ts";
import { createLedger } from "../store/create.ts";
import { appendStatement } from "../store/events.ts";

/** A ledger of the sandbox, in memory or in a file. */
export async function newLedger(
  url: string = ":memory:",
): Promise<Driver & AsyncDisposable> {
  const driver = await prepared(await openDriver({ url, worker: false }));
  return Object.assign(driver, {
    [Symbol.asyncDispose]: () => driver.close(),
  });
}

/** Makes the tables of a ledger of the sandbox. */
export async function prepared(driver: Driver): Promise<Driver> {
  await createLedger(driver, {
    environment: "sandbox",
    foldVersion: FOLD.version,
    now: () => Date.parse(at(0)),
    randomBytes: (length) => new Uint8Array(length).fill(7),
  });
  return driver;
}

export async function append(
  driver: Driver,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length > 0) await driver.batch([appendStatement(events)], "write");
}

/** Folds until nothing waits; returns how many events that were. */
export async function projectAll(
  driver: Driver,
  options: Partial<ProjectOptions> = {},
): Promise<number> {
  let events = 0;
  for (;;) {
    const step = await project(driver, { assets: "sandbox", ...options });
    events += step.events;
    if (step.events === 0 && !await isBehind(driver)) return events;
  }
}

/** Whether a replica has not heard yet of events that are there. */
async function isBehind(driver: Driver): Promise<boolean> {
  if (driver.location !== "remote") return false;
  const [row] = await select(
    driver,
    "SELECT (SELECT max(position) FROM events) > position AS behind FROM ledger",
  );
  return row?.behind === 1;
}

/** Reads the rows of one statement, each by the names of its columns. */
export async function select(
  driver: Driver,
  sql: string,
  ...args: SqlValue[]
): Promise<Record<string, SqlValue>[]> {
  const [found] = await driver.batch([{ sql, args }], decidingMode(driver));
  return (found?.rows ?? []).map((row) =>
    Object.fromEntries(
      found?.columns.map((name, place) => [name, row[place] ?? null]) ?? [],
    )
  );
}

/** States and activities, as the kit of the rules writes what is expected. */
export async function statesOf(driver: Driver): Promise<States> {
  const states: States = {};
  for (const { id, fold } of await select(driver, "SELECT * FROM orders")) {
    const order = unpackOrder(String(id), String(fold));
    states[`order:${id}`] = {
      state: JSON.stringify(orderState(order, { assets: "sandbox" })),
      activity: JSON.stringify(orderActivity(order)),
    };
  }
  for (const { id, fold } of await select(driver, "SELECT * FROM users")) {
    const user = unpackUser(String(id), String(fold));
    states[`user:${id}`] = {
      state: JSON.stringify(userState(user)),
      activity: JSON.stringify(activityOf(user.activity)),
    };
  }
  return states;
}

/** What was told, in order, without the places that a batch gives it. */
export async function toldBy(driver: Driver): Promise<unknown[]> {
  const [found] = await driver.batch([
    { sql: `SELECT ${TRANSITIONS} ORDER BY t.seq`, args: [] },
  ], "read");
  return (found?.rows ?? []).map((row) => {
    const { seq: _seq, no: _no, ...told } = transitionOf(row);
    return told;
  });
}
