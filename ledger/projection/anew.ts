/** Makes rows of orders and users anew, each from its own events. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { expectationWindow } from "../orders/expectations.ts";
import { ExpectationPool, WitnessRules } from "../orders/joined_facts.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { readDeciding, type Rows } from "../store/database.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { Told } from "./doc.ts";
import { selectExpected } from "./expected.ts";
import type { LookupHash } from "./lookup_hash.ts";
import { type Columns, type Kind, KINDS, type Table } from "./rows.ts";

export interface AnewOptions {
  readonly assets: AssetTable;
  readonly readFact: (event: RecordedEvent) => Fact;
  readonly hash: LookupHash;
  /** Events after it are left out. @default {none} */
  readonly until?: number;
  /** Events as they will be stored, by position. @default {as they are} */
  readonly replaced?: ReadonlyMap<number, StoredEvent>;
}

type AnyFold = OrderFold | UserFold;

/** A row as its own events make it now: what lists filter by, and its fold. */
export interface RowAnew {
  readonly fold: AnyFold;
  readonly columns: Columns;
}

/**
 * Makes rows of orders or users anew; what was told of them stays.
 *
 * @param rows Their columns `no`, `id`, `historic` and `told`.
 * @returns The rows by `no`; one that no event names has a fold without facts.
 */
export async function rowsAnew(
  driver: Driver,
  { table, rows, ...options }: AnewOptions & {
    readonly table: Table;
    readonly rows: readonly Readonly<Record<string, SqlValue | undefined>>[];
  },
): Promise<Map<number, RowAnew>> {
  const kind: Kind<AnyFold> = KINDS[table];
  const folds = new Map(
    rows.map(({ no, id }) => [Number(no), kind.initial(String(id))]),
  );
  for await (const [no, fact] of factsOf(driver, [...folds.keys()], options)) {
    folds.set(no, kind.evolve(folds.get(no) as AnyFold, fact));
  }
  if (table === "orders") {
    await join(driver, folds as Map<number, OrderFold>, options);
  }
  return new Map(rows.map(({ no, historic, told }) => {
    const fold = folds.get(Number(no)) as AnyFold;
    const row = {
      ...{ no: Number(no), historic: Number(historic), fold },
      told: JSON.parse(String(told)) as Told,
    };
    return [row.no, { fold, columns: kind.columns(row, options) }];
  }));
}

/** Events read at once: bodies may be long, and an order's webhooks many. */
const PAGE = 2000;

/** The facts that name some orders or users, by position within each. */
async function* factsOf(
  driver: Driver,
  nos: readonly number[],
  { readFact, until = Number.MAX_SAFE_INTEGER, replaced }: AnewOptions,
): AsyncGenerator<readonly [no: number, fact: Fact]> {
  const sorted = JSON.stringify(nos.toSorted((a, b) => a - b));
  let [no, position] = [-1, 0];
  for (;;) {
    const [rows = []] = await readDeciding(driver, [{
      sql: `SELECT m.no, ${EVENT_COLUMNS} FROM json_each(?1) AS w
        CROSS JOIN mentions AS m ON m.no = w.value AND m.position <= ?4
        CROSS JOIN events AS e ON e.position = m.position
        WHERE m.no > ?2 OR (m.no = ?2 AND m.position > ?3)
        ORDER BY m.no, m.position LIMIT ${PAGE}`,
      args: [sorted, no, position, until],
    }]);
    const events = eventsOf(rows.map((row) => row.slice(1)));
    for (const [at, event] of events.entries()) {
      no = Number(rows[at]?.[0]);
      position = event.position;
      yield [no, readFact(replaced?.get(position) ?? event)];
    }
    if (rows.length < PAGE) return;
  }
}

/** Joined at the end: what an order keeps of it depends on the order as it is then. */
async function join(
  driver: Driver,
  folds: Map<number, OrderFold>,
  { readFact, hash, until = Number.MAX_SAFE_INTEGER, replaced }: AnewOptions,
): Promise<void> {
  const windows = [...folds.values()].flatMap((fold) =>
    expectationWindow(fold) ?? []
  );
  const [expected, required] = await readDeciding(driver, [
    selectExpected(hash, windows),
    selectRules,
  ]);
  const facts = (rows: Rows | undefined) =>
    eventsOf(rows).filter(({ position }) => position <= until)
      .map((event) => readFact(replaced?.get(event.position) ?? event));
  const pool = new ExpectationPool();
  const rules = new WitnessRules();
  for (const { expectation } of facts(expected).filter(isExpectation)) {
    pool.add(expectation);
  }
  for (const { change } of facts(required).filter(isWitnessRule)) {
    rules.add(change);
  }
  for (const [no, fold] of folds) folds.set(no, rules.join(pool.join(fold)));
}

/** Selects the events that say since when orders wait for the chain. */
export const selectRules: Statement = {
  sql: `SELECT ${EVENT_COLUMNS} FROM events AS e
    WHERE e.kind = 'witness_required' AND e.${IS_RARE}
      AND e.position <= (SELECT position FROM ledger)`,
  args: [],
};
