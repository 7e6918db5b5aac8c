/** Folds orders and users anew, each from its own events. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { ExpectationWindow } from "../events/expectation.ts";
import { type Fact, isExpectation, isWitnessRule } from "../events/fact.ts";
import { ExpectationPool } from "../orders/expectation_pool.ts";
import { expectationWindow } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { WitnessRules } from "../orders/witness_rules.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
import { readDeciding, type Rows } from "../store/database.ts";
import { packOrder, packUser, type Told } from "./doc.ts";
import { orderColumns, orderView, userColumns } from "./rows.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import { selectExpected } from "./expected.ts";
import type { LookupHash } from "./lookup_hash.ts";

/** What is folded anew. */
export interface Entity {
  readonly no: number;
  readonly id: string;
}

export interface AnewOptions {
  readonly readFact: (event: RecordedEvent) => Fact;
  readonly hash: LookupHash;
  /** Events after it are left out. @default {none} */
  readonly until?: number;
  /** Events as they will be stored, by position. @default {as they are} */
  readonly replaced?: ReadonlyMap<number, StoredEvent>;
}

/** Events read at once: bodies may be long, and an order's webhooks many. */
const PAGE = 2000;

/**
 * Folds orders from nothing: what is expected of them is joined at the end, because
 * what an order keeps of it depends on the order as it is then.
 *
 * @returns Folds by `no`; of an order that no event names one without facts.
 */
export async function foldOrdersAnew(
  driver: Driver,
  orders: readonly Entity[],
  options: AnewOptions,
): Promise<Map<number, OrderFold>> {
  const folds = new Map(
    orders.map(({ no, id }) => [no, initialOrderFold(id)]),
  );
  for await (const [no, fact] of factsOf(driver, orders, options)) {
    const fold = folds.get(no) as OrderFold;
    folds.set(no, evolveOrder(fold, fact));
  }
  const windows: ExpectationWindow[] = [];
  for (const fold of folds.values()) {
    const window = expectationWindow(fold);
    if (window !== null) windows.push(window);
  }
  const { pool, rules } = await readTerms(driver, windows, options);
  for (const [no, fold] of folds) folds.set(no, rules.join(pool.join(fold)));
  return folds;
}

/** Folds users from nothing. */
export async function foldUsersAnew(
  driver: Driver,
  users: readonly Entity[],
  options: AnewOptions,
): Promise<Map<number, UserFold>> {
  const folds = new Map(users.map(({ no, id }) => [no, initialUserFold(id)]));
  for await (const [no, fact] of factsOf(driver, users, options)) {
    const fold = folds.get(no) as UserFold;
    if (fact.userId === fold.userId) folds.set(no, evolveUser(fold, fact));
  }
  return folds;
}

/** The facts that name some orders or users, by position within each. */
async function* factsOf(
  driver: Driver,
  entities: readonly Entity[],
  { readFact, until = Number.MAX_SAFE_INTEGER, replaced }: AnewOptions,
): AsyncGenerator<readonly [no: number, fact: Fact]> {
  const nos = JSON.stringify(
    entities.map(({ no }) => no).sort((a, b) => a - b),
  );
  let no = -1;
  let position = 0;
  for (;;) {
    const [rows = []] = await readDeciding(driver, [{
      sql: `SELECT m.no, ${EVENT_COLUMNS} FROM json_each(?1) AS w
        CROSS JOIN mentions AS m ON m.no = w.value AND m.position <= ?4
        CROSS JOIN events AS e ON e.position = m.position
        WHERE m.no > ?2 OR (m.no = ?2 AND m.position > ?3)
        ORDER BY m.no, m.position LIMIT ${PAGE}`,
      args: [nos, no, position, until],
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

async function readTerms(
  driver: Driver,
  windows: readonly ExpectationWindow[],
  { readFact, hash, until = Number.MAX_SAFE_INTEGER, replaced }: AnewOptions,
): Promise<
  { readonly pool: ExpectationPool; readonly rules: WitnessRules }
> {
  const found = await readDeciding(driver, [
    selectExpected(hash, windows),
    selectRules,
  ]);
  const facts = (rows: Rows | undefined) =>
    eventsOf(rows).filter(({ position }) => position <= until)
      .map((event) => readFact(replaced?.get(event.position) ?? event));
  const pool = new ExpectationPool();
  const rules = new WitnessRules();
  for (const fact of facts(found[0])) {
    if (isExpectation(fact)) pool.add(fact.expectation);
  }
  for (const fact of facts(found[1])) {
    if (isWitnessRule(fact)) rules.add(fact.change);
  }
  return { pool, rules };
}

/** Selects the events that say since when orders wait for the chain. */
export const selectRules: Statement = {
  sql: `SELECT ${EVENT_COLUMNS} FROM events AS e
    WHERE e.kind = 'witness_required' AND e.${IS_RARE}
      AND e.position <= (SELECT position FROM ledger)`,
  args: [],
};

/** A row as its own events make it now: what lists filter by, and its fold. */
export interface RowAnew {
  readonly fold: OrderFold | UserFold;
  readonly columns: Readonly<Record<string, SqlValue>>;
}

/**
 * Makes rows of orders or users anew; what was told of them stays.
 *
 * @param rows Their columns `no`, `id`, `historic` and `told`.
 * @returns The rows by `no`.
 */
export async function rowsAnew(
  driver: Driver,
  { table, rows, ...options }: AnewOptions & {
    readonly table: "orders" | "users";
    readonly rows: readonly Readonly<Record<string, SqlValue | undefined>>[];
    readonly assets: AssetTable;
  },
): Promise<Map<number, RowAnew>> {
  const kept = rows.map(({ no, id, historic, told }) => ({
    ...{ no: Number(no), id: String(id), historic: Number(historic) },
    told: JSON.parse(String(told)) as Told,
  }));
  if (table === "users") {
    const folds = await foldUsersAnew(driver, kept, options);
    return new Map(kept.map((row) => {
      const fold = folds.get(row.no) as UserFold;
      const columns = userColumns({ ...row, fold });
      return [row.no, { fold, columns: { ...columns, fold: packUser(fold) } }];
    }));
  }
  const folds = await foldOrdersAnew(driver, kept, options);
  return new Map(kept.map((row) => {
    const fold = folds.get(row.no) as OrderFold;
    const whole = { ...row, fold };
    const columns = orderColumns(
      whole,
      orderView(whole, options),
      options.hash,
    );
    return [row.no, { fold, columns: { ...columns, fold: packOrder(fold) } }];
  }));
}
