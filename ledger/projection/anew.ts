/** Makes rows anew, each from its own events: for a refold, the check of states, an erasure. */
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type Expectation,
  type PurchaseName,
  type RecordedEvent,
  validUntil,
} from "../events/event.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
} from "../events/fact.ts";
import {
  type ExpectationWindow,
  expectationWindow,
  JoinedFacts,
  sameWindow,
} from "../orders/expectations.ts";
import { evolveOrder, type OrderFold } from "../orders/order_fold.ts";
import {
  decidingMode,
  type Driver,
  listed,
  readDeciding,
  selectDeciding,
  type Statement,
  statement,
} from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, msOf, readEvents } from "../store/events.ts";
import {
  guardOf,
  type LookupHash,
  type LookupKind,
  selectGuard,
} from "./guard.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { addRelease, NO_RELEASES } from "../releases/order_release.ts";
import { IS_RARE } from "../store/schema.ts";
import type { UserFold } from "../users/user_state.ts";
import {
  type Columns,
  type Kind,
  KINDS,
  NOTHING_TOLD,
  type Table,
  TABLES,
  type Told,
} from "./rows.ts";
import {
  type LoggedTransition,
  tell,
  transitionOf,
  TRANSITIONS,
} from "./log.ts";

/** Later than any time: a time that cannot be read never expires. */
const NEVER_MS = 8.64e15;

export function insertExpected(
  hash: LookupHash,
  { position, expectation }: {
    readonly position: number;
    readonly expectation: Expectation;
  },
): Statement {
  const { clickId, reference, sessionId } = expectation;
  const hashed = (kind: LookupKind, text: string | null) =>
    text === null ? null : hash.of(kind, text);
  return statement(
    "INSERT INTO expected VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    position,
    hashed("asked_click", clickId),
    hashed("asked_reference", reference),
    hashed("session", sessionId),
    msOf(askedAtOf(expectation)) ?? 0,
    msOf(validUntil(expectation)) ?? NEVER_MS,
  );
}

/** Where terms of an order are looked for: wherever one of its readings moves that. */
export function windowsOf(
  before: OrderFold,
  facts: readonly Fact[],
): ExpectationWindow[] {
  let fold = before;
  return facts.flatMap((fact) => {
    if (fact.kind !== "order_snapshot") return [];
    const last = expectationWindow(fold);
    fold = evolveOrder(fold, fact);
    const window = expectationWindow(fold);
    return window === null || sameWindow(window, last) ? [] : [window];
  });
}

/** How many are read where those count as well that counted before. */
const MOST_EARLIER = 200;

/**
 * Selects the events of what may be expected of orders: of a click id those that
 * expire first, and the latest terms of their references.
 */
export function selectExpected(
  hash: LookupHash,
  windows: readonly ExpectationWindow[],
  { earlier = false }: { readonly earlier?: boolean } = {},
): Statement {
  const rows = windows.map(({ clickId, from, until, termsUntil }) => [
    hash.of("asked_click", clickId),
    msOf(from) ?? 0,
    msOf(until) ?? NEVER_MS,
    msOf(termsUntil) ?? NEVER_MS,
  ]);
  const most = earlier
    ? positions(MOST_EARLIER, MOST_EARLIER)
    : positions(CANDIDATES_KEPT, 1);
  return statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.position IN (${most}) ORDER BY e.position`,
    JSON.stringify(rows),
  );
}

const positions = (candidates: number, terms: number) =>
  `WITH w AS MATERIALIZED (
      SELECT value ->> 0 AS click, value ->> 1 AS start, value ->> 2 AS until,
        value ->> 3 AS terms_until
      FROM json_each(?1)),
    c AS MATERIALIZED (
      SELECT x.position, x.reference, x.click, w.terms_until FROM w CROSS JOIN expected AS x
      ON x.click = w.click AND x.valid_until >= w.start
        AND x.valid_until <= coalesce((
          SELECT k.valid_until FROM expected AS k
          WHERE k.click = w.click AND k.valid_until >= w.start
            AND k.asked_at <= w.until
          ORDER BY k.valid_until LIMIT 1 OFFSET ${candidates - 1}), ${NEVER_MS})
        AND x.asked_at <= w.until)
    SELECT position FROM c
    ${latest("reference", "reference IS NOT NULL", terms)}
    ${latest("click", "reference IS NULL", terms)}`;

/** The latest terms of the purchases that are candidates. */
const latest = (name: string, is: string, terms: number) =>
  `UNION SELECT t.position
    FROM (SELECT DISTINCT ${name}, terms_until FROM c WHERE ${is}) AS c
    CROSS JOIN expected AS t ON t.${name} = c.${name} AND t.${is}
      AND t.asked_at <= c.terms_until AND t.asked_at >= coalesce((
        SELECT k.asked_at FROM expected AS k
        WHERE k.${name} = c.${name} AND k.${is} AND k.asked_at <= c.terms_until
        ORDER BY k.asked_at DESC LIMIT 1 OFFSET ${terms - 1}), 0)`;

/** Terms of purchases that were asked for at their times, or later. */
export function selectLaterTerms(
  hash: LookupHash,
  purchases: readonly (PurchaseName & { readonly askedAt: string })[],
): Statement {
  const rows = purchases.map(({ kind, name, askedAt }) => [
    hash.of(kind === "click" ? "asked_click" : "asked_reference", name),
    msOf(askedAt) ?? 0,
    kind,
  ]);
  const asked = (column: string, kind: string) =>
    `SELECT x.position FROM json_each(?1) AS w CROSS JOIN expected AS x
      ON x.${column} = w.value ->> 0 AND x.asked_at >= w.value ->> 1
      WHERE w.value ->> 2 = '${kind}'`;
  return statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e WHERE e.position IN (
      ${asked("reference", "reference")}
      UNION ${asked("click", "click")} AND x.reference IS NULL)`,
    JSON.stringify(rows),
  );
}

export interface AnewOptions {
  readonly assets: AssetTable;
  readonly readFact: (event: RecordedEvent) => Fact;
  readonly hash: LookupHash;
  /** Events as they will be stored, by position. @default {as they are} */
  readonly replaced?: ReadonlyMap<number, RecordedEvent>;
  /** Joins what was known at a position, terms that count no more too. */
  readonly past?: number;
}

type AnyFold = OrderFold | UserFold;

/** A row as its own events make it now: what lists filter by, and its fold. */
interface RowAnew {
  readonly fold: AnyFold;
  readonly columns: Columns;
}

/** The number of a row says of what it is. */
function tableOf(no: number): Table {
  return TABLES[no % 2] as Table;
}

/** Makes rows of orders and users anew; what was told of them stays. */
export async function rowsAnew(
  driver: Driver,
  rows: readonly Columns[],
  options: AnewOptions,
): Promise<Map<number, RowAnew>> {
  const kindOf = (no: number): Kind<AnyFold> => KINDS[tableOf(no)];
  const folds = new Map(
    rows.map(({ no, id }) =>
      [Number(no), kindOf(Number(no)).initial(String(id))] as const
    ),
  );
  for await (const [no, fact] of factsOf(driver, [...folds.keys()], options)) {
    folds.set(no, kindOf(no).evolve(folds.get(no) as AnyFold, fact));
  }
  await joinAll(driver, folds, options);
  return new Map(rows.map((row) => {
    const [no, historic] = [Number(row.no), Number(row.historic)];
    const fold = folds.get(no) as AnyFold;
    const told: Told = JSON.parse(String(row.told));
    const made = kindOf(no).written({ no, historic, fold, told }, options);
    return [no, { fold, columns: made.columns }];
  }));
}

/** Events read at once: bodies may be long, and an order's webhooks many. */
const PAGE = 2000;
const MOST_KNOWN = 10 * PAGE;

export async function* factsOf(
  driver: Driver,
  nos: readonly number[],
  { readFact, replaced }: AnewOptions,
): AsyncGenerator<readonly [no: number, fact: Fact]> {
  const sorted = listed(nos.toSorted((a, b) => a - b));
  /** Facts by position: most are of an order and of its user. */
  const known = new Map<number, Fact>();
  let last = [-1, 0];
  for (;;) {
    const rows = await selectDeciding(
      driver,
      `SELECT m.no, m.position FROM json_each(?1) AS w
        CROSS JOIN mentions AS m ON m.no = w.value
        WHERE m.no > ?2 OR (m.no = ?2 AND m.position > ?3)
        ORDER BY m.no, m.position LIMIT ${PAGE}`,
      ...[sorted, ...last],
    );
    if (known.size > MOST_KNOWN) known.clear();
    const named = rows.map((row) => row.map(Number) as [number, number]);
    const unknown = named.map(([, at]) => at).filter((at) => !known.has(at));
    const events = await readEvents(
      driver,
      "json_each(?) AS w CROSS JOIN events AS e ON e.position = w.value",
      listed(new Set(unknown)),
    );
    for (const event of events) {
      const now = replaced?.get(event.position) ?? event;
      known.set(event.position, readFact(now));
    }
    for (const [no, position] of named) {
      const fact = known.get(position);
      if (fact !== undefined) yield [no, fact];
    }
    if (named.length < PAGE) return;
    last = named.at(-1) ?? last;
  }
}

/** Joined at the end: what an order keeps of it depends on the order as it is then. */
export async function joinAll(
  driver: Driver,
  folds: Map<number, AnyFold>,
  { readFact, hash, replaced, past }: AnewOptions,
): Promise<void> {
  const orders = [...folds].flatMap(([no, fold]) =>
    "orderId" in fold ? [[no, fold] as const] : []
  );
  if (orders.length === 0) return;
  const windows = orders.flatMap(([, fold]) => expectationWindow(fold) ?? []);
  const found = await readDeciding(driver, [
    selectExpected(hash, windows, { earlier: past !== undefined }),
    selectRules,
  ]);
  const joined = new JoinedFacts();
  for (const event of eventsOf(found.flat())) {
    if (event.position > (past ?? Infinity)) continue;
    joined.add(readFact(replaced?.get(event.position) ?? event));
  }
  for (const [no, fold] of orders) folds.set(no, joined.join(fold));
}

export const selectRules: Statement = statement(
  `SELECT ${EVENT_COLUMNS} FROM events AS e
    WHERE e.kind = 'witness_required' AND e.${IS_RARE}
      AND e.position <= (SELECT position FROM ledger)`,
);

export interface Walked {
  readonly no: number;
  /** How many events name the rows of a step, and rows; 0 at the end. */
  readonly events: number;
}

/** The next orders and users that are stored, or named by events, or some of them. */
export async function nextNos(
  driver: Driver,
  { after, most, some }: {
    readonly after: number;
    readonly most: number;
    readonly some?: readonly number[] | undefined;
  },
): Promise<Walked & { readonly nos: readonly number[] }> {
  const among = some ? "AND no IN (SELECT value FROM json_each(?3))" : "";
  const all = ["mentions", ...TABLES].map((table) =>
    `SELECT no FROM ${table} WHERE no > ?1 ${among}`
  ).join(" UNION ALL ");
  const rows = await selectDeciding(
    driver,
    `${all} ORDER BY no LIMIT ?2`,
    ...[after, most, ...some ? [listed(some)] : []],
  );
  const nos = [...new Set(rows.map(([no]) => Number(no)))];
  return { nos, no: nos.at(-1) ?? after, events: rows.length };
}

/** An order or a user, as it is stored and as its events make it; either may be missing. */
export interface Compared {
  readonly table: Table;
  readonly stored: Columns | undefined;
  readonly made: RowAnew | undefined;
}

/** Compares rows with their events; `also` are more columns to read of the row `r`. */
export async function compareRows(
  driver: Driver,
  nos: readonly number[],
  { also = "", ...options }: AnewOptions & { readonly also?: string },
): Promise<Compared[]> {
  const found = await driver.batch(
    TABLES.map((table) =>
      statement(
        `SELECT r.*${also} FROM ${table} AS r
          WHERE no IN (SELECT value FROM json_each(?))`,
        listed(nos),
      )
    ),
    decidingMode(driver),
  );
  const stored = new Map(
    found.flatMap(({ columns, rows }) =>
      rows.map((values) => {
        const row: Columns = Object.fromEntries(
          columns.map((name, at) => [name, values[at] ?? null]),
        );
        return [Number(row.no), row];
      })
    ),
  );
  const made = await rowsAnew(driver, [...stored.values()], options);
  // What no event says anything of, under its id, is not the row of one.
  const gone = nos.filter((no) => !made.get(no)?.fold.activity.firstAt);
  for (const no of gone) made.delete(no);
  const deleted = await deletedRows(driver, gone);
  const restored = await rowsAnew(driver, deleted, options);
  return nos.map((no) => ({
    ...{ table: tableOf(no), stored: stored.get(no) },
    made: made.get(no) ?? restored.get(no),
  }));
}

/**
 * What is known of rows that were deleted from the file: of whom they are, by the
 * first event that names them, and what was told, by the log and the purchases.
 */
async function deletedRows(
  driver: Driver,
  nos: readonly number[],
): Promise<Columns[]> {
  if (nos.length === 0) return [];
  const inList = "no IN (SELECT value FROM json_each(?))";
  const [named, logged = [], purchases = []] = await readDeciding(
    driver,
    [
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.position IN (SELECT value / 2 FROM json_each(?))`,
      `SELECT ${TRANSITIONS} WHERE t.${inList} ORDER BY t.seq`,
      `SELECT no, lower(hex(name)), held, since FROM purchases
        WHERE ${inList} AND held < 2`,
    ].map((sql) => statement(sql, listed(nos))),
  );
  const log = Map.groupBy(logged.map(transitionOf), ({ no }) => no);
  const events = new Map(eventsOf(named).map((one) => [one.position, one]));
  return nos.flatMap((no) => {
    const event = events.get(Math.floor(no / 2));
    const id = tableOf(no) === "orders" ? event?.orderId : event?.userId;
    if (!id) return [];
    const own = log.get(no) ?? [];
    let told = own.reduce(toldWith, NOTHING_TOLD);
    for (const [of, name, held, since] of purchases) {
      if (of !== no) continue;
      const digest = String(name);
      const release = { ...NO_RELEASES, ...told.release };
      const wait = { orderId: id, digest, position: Number(since) };
      const taken = held === 1 ? { own: digest } : { wait };
      told = { ...told, release: { ...release, ...taken } };
    }
    const isOld = own.some(({ historic }) => historic) &&
      !own.some(({ live }) => live);
    // A person looks at what had ended before the ledger went live.
    const historic = isOld ? 2 : 0;
    return [{ no, id, historic, told: JSON.stringify(told) }];
  });
}

function toldWith(told: Told, entry: LoggedTransition): Told {
  const after = tell(told, entry)?.told ?? told;
  const { release = NO_RELEASES } = after;
  return entry.logged === null
    ? after
    : { ...after, release: addRelease(release, entry) };
}

export async function missingTerms(
  driver: Driver,
  position: number,
  readFact: AnewOptions["readFact"],
): Promise<ExpectationFact[]> {
  const events = await readEvents(
    driver,
    `events AS e
      WHERE e.kind IN ('session_created', 'order_expected') AND e.position <= ?
        AND NOT EXISTS (SELECT 1 FROM expected AS x WHERE x.position = e.position)
      ORDER BY e.position`,
    position,
  );
  return events.map(readFact).filter(isExpectation);
}

interface Changed {
  readonly position: number;
  /** Rows that events name. */
  readonly nos: ReadonlySet<number>;
  /** Terms or rules were folded. */
  readonly anyOrder: boolean;
  /** Somebody was erased. */
  readonly anybody: boolean;
}

export async function changedSince(
  driver: Driver,
  { folded, stored }: { readonly folded: number; readonly stored: number },
): Promise<Changed> {
  const [guarding, nos = [], any] = await readDeciding(driver, [
    selectGuard,
    statement(
      `SELECT DISTINCT m.no FROM events AS e JOIN mentions AS m
        ON m.position = e.position WHERE e.position > ? AND m.no > 0`,
      folded,
    ),
    statement(
      `SELECT EXISTS (SELECT 1 FROM events WHERE position > ?1
          AND position <= (SELECT position FROM ledger) AND kind IN
          ('session_created', 'order_expected', 'witness_required')),
        EXISTS (SELECT 1 FROM events
          WHERE kind = 'person_erased' AND position > ?2)`,
      ...[folded, stored],
    ),
  ]);
  const [terms, erased] = any?.[0] ?? [];
  return {
    position: guardOf(guarding).position,
    nos: new Set(nos.map(([no]) => Number(no))),
    ...{ anyOrder: terms === 1, anybody: erased === 1 },
  };
}
