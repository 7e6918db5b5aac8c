/** A step: reads what a batch of events needs, folds it, and writes it behind the guard. */
import {
  askedAtOf,
  CANDIDATES_KEPT,
  type PurchaseName,
  purchaseOf,
  type RecordedEvent,
  validUntil,
} from "../events/event.ts";
import {
  expectationLinks,
  type Fact,
  isExpectation,
  isWitnessRule,
  linkKey,
} from "../events/fact.ts";
import { firstOrderAfter } from "../orders/expectations.ts";
import { initialOrderFold, type OrderFold } from "../orders/order_fold.ts";
import {
  type KnownReleases,
  type LoggedReleases,
  logReleases,
  type Purchase,
  purchaseDigest,
} from "../releases/order_release.ts";
import {
  type Driver,
  insertMany,
  listed,
  read as readRows,
  retryLostRaces,
  type Rows,
  type SqlValue,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import { eventsOf, hexOf, msOf, nextEvents } from "../store/events.ts";
import {
  type Columns,
  DUE_COLUMNS,
  dueChanges,
  dueOf,
  insertRows,
  type Kind,
  KINDS,
  lookupText,
  orderRows,
  type RowContext,
  selectRows,
  type Table,
  TABLES,
  userRows,
} from "./rows.ts";
import {
  insertExpected,
  selectExpected,
  selectLaterTerms,
  selectRules,
  windowsOf,
} from "./anew.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import {
  type BatchEvent,
  type Collected,
  type Known,
  type KnownRows,
  Step,
} from "./step.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { readFact } from "../events/read_fact.ts";
import {
  insertSeal,
  lastSealOf,
  sealNext,
  selectLastSeal,
} from "../evidence/evidence.ts";
import type { UserFold } from "../users/user_state.ts";
import { FOLD_VERSION } from "./fold_version.ts";
import {
  LAST_SEQ,
  logStatements,
  selectSubscribers,
  subscribersOf,
  tellAll,
} from "./log.ts";

/** Reads in one transaction: after a lost race from the primary. */
type Read = (statements: readonly Statement[]) => Promise<Rows[]>;

/**
 * Reads the rows that a batch names, what is expected of its orders, and the orders
 * that the batch's terms and rules may concern besides.
 */
async function loadKnown(
  read: Read,
  events: readonly BatchEvent[],
  { anyExpected, guard: { hash }, rules, readFact }: Batch & FoldCode,
): Promise<Known> {
  const selectNamed = (table: Table, which: "orderId" | "userId") =>
    selectRows(
      table,
      "r.id IN (SELECT value FROM json_each(?))",
      listed(
        new Set(
          events.flatMap(({ event, fact }) =>
            [fact[which], event[which]].filter(Boolean)
          ),
        ),
      ),
    );
  const found = await read([
    selectNamed("orders", "orderId"),
    selectNamed("users", "userId"),
  ]);
  const orders = orderRows(found[0]);
  const known = {
    orders,
    users: userRows(found[1]),
    rules: rules.map(readFact).filter(isWitnessRule),
    ...{ expectations: [], linkedOrders: new Map(), successes: [] },
  };
  const facts = events.map(({ fact }) => fact);
  const rulesFrom = facts.filter(isWitnessRule).map(({ change }) =>
    msOf(change.from) ?? 0
  );
  const asked = facts.filter(isExpectation).map((fact) => fact.expectation);
  const links = asked.flatMap((one) =>
    expectationLinks(one).map(({ kind, link }) => [
      hash.of(kind, link),
      linkKey({ kind, link }),
      msOf(firstOrderAfter(askedAtOf(one))) ?? 0,
      kind === "click" ? hash.of("asked_click", link) : null,
      msOf(validUntil(one)) ?? 0,
    ])
  );
  if (!anyExpected && links.length === 0 && rulesFrom.length === 0) {
    return known;
  }
  const own = Map.groupBy(facts, ({ orderId }) => orderId ?? "");
  own.delete("");
  const windows = [...own].flatMap(([id, facts]) =>
    windowsOf(orders.get(id)?.fold ?? initialOrderFold(id), facts)
  );
  // What was recorded before and was asked for later counts in its place.
  const terms = asked.flatMap((one) => {
    const purchase = purchaseOf(one);
    return purchase === null ? [] : [{ ...purchase, askedAt: askedAtOf(one) }];
  });
  const [expected = [], later = [], linked = [], successes = []] = await read([
    selectExpected(hash, windows),
    selectLaterTerms(hash, terms),
    statement(LINKED, JSON.stringify(links)),
    selectRows(
      "orders",
      "?1 IS NOT NULL AND r.status = 'success' AND r.began >= ?1",
      rulesFrom.length === 0 ? null : Math.min(...rulesFrom),
    ),
  ]);
  addMissing(orders, [...linked.map((row) => row.slice(1)), ...successes]);
  return {
    ...known,
    expectations: eventsOf([...expected, ...later]).map(readFact)
      .filter(isExpectation).map(({ expectation }) => expectation),
    linkedOrders: new Map(
      [...Map.groupBy(linked, ([key]) => String(key))]
        .map(([key, rows]) => [key, rows.map(([, , id]) => String(id))]),
    ),
    successes: successes.map(([, id]) => String(id)),
  };
}

/** What is known already stays: a step may have changed it. */
function addMissing(orders: KnownRows["orders"], rows: Rows | undefined): void {
  for (const [id, row] of orderRows(rows)) {
    if (!orders.has(id)) orders.set(id, row);
  }
}

/**
 * Orders that the service has shown under a link. By its click id what is asked for
 * concerns no order that was there long before, unless something without a reference
 * was asked for then, of which it may be later terms; nor one of which as many
 * candidates expire earlier as an order keeps.
 */
const LINKED =
  `SELECT DISTINCT w.value ->> 1, o.no, o.id, o.historic, o.told, o.fold
  FROM json_each(?1) AS w
  CROSS JOIN lookup AS l ON l.hash = w.value ->> 0 AND l.shown = 1
  CROSS JOIN orders AS o ON o.no = l.no
  WHERE w.value ->> 3 IS NULL OR (
    (o.began >= w.value ->> 2 OR EXISTS (
      SELECT 1 FROM expected AS k WHERE k.click = w.value ->> 3
        AND k.reference IS NULL AND k.valid_until >= o.began
        AND k.asked_at <= o.began + 360000))
    AND NOT EXISTS (
      SELECT 1 FROM expected AS k WHERE k.click = w.value ->> 3
        AND k.valid_until >= o.began AND k.valid_until < w.value ->> 4
        AND k.asked_at <= o.began
      ORDER BY k.valid_until LIMIT 1 OFFSET ${CANDIDATES_KEPT - 1}))`;

/** What a row of `purchases` says of an order, in its column `held`. */
const ROLES = { wait: 0, own: 1, hand: 2 } as const;

/**
 * Reads what was logged of releases, and who holds the purchases of a batch; where a
 * person moved one, the rows of all that have to do with it are added.
 */
export async function loadReleases(
  read: Read,
  collected: readonly Collected[],
  { orders, key }: Pick<KnownRows, "orders"> & { readonly key: Uint8Array },
): Promise<KnownReleases> {
  const digestOf = (purchase: PurchaseName) => purchaseDigest(key, purchase);
  const isMoved = collected.some((one) => "took" in one);
  const names = collected.flatMap((one) =>
    "took" in one
      ? [one.gave, one.took]
      : "now" in one && one.now.release === "yes"
      ? [one.now.purchase]
      : []
  ).filter((purchase) => purchase !== null);
  const digests = listed(new Set(names.map(digestOf)));
  const named = "name IN (SELECT unhex(value) FROM json_each(?1))";
  const [holding, rows] = digests === "[]" ? [] : await read([
    // Those that took last come last.
    statement(
      `SELECT p.name, o.id, p.held FROM purchases AS p
        JOIN orders AS o ON o.no = p.no WHERE p.${named} ORDER BY p.since`,
      digests,
    ),
    selectRows(
      "orders",
      `?2 AND r.no IN (SELECT no FROM purchases WHERE ${named})`,
      ...[digests, isMoved ? 1 : 0],
    ),
  ]);
  const purchases = new Map<string, Purchase>();
  for (const [digest, id, role] of holding ?? []) {
    const name = hexOf(digest as Uint8Array);
    const { own, hands } = purchases.get(name) ?? { own: null, hands: [] };
    const order = String(id);
    purchases.set(name, {
      own: role === ROLES.own ? order : own,
      hands: role === ROLES.hand ? [...hands, order] : hands,
    });
  }
  addMissing(orders, rows);
  const releases = [...orders].flatMap(([id, { told: { release } }]) =>
    release === undefined ? [] : [[id, release] as const]
  );
  return { purchases, digestOf, orders: new Map(releases) };
}

export function purchaseStatements(
  { purchases, waits }: Pick<LoggedReleases, "purchases" | "waits">,
  { orders }: Pick<KnownRows, "orders">,
): Statement[] {
  const noOf = (id: string) => orders.get(id)?.no ?? null;
  const remove = (where: string, value: SqlValue) =>
    statement(`DELETE FROM purchases WHERE ${where}`, value);
  const insert = (name: string, id: string, role: number, since: number) =>
    statement(
      `INSERT INTO purchases (name, no, held, since)
        VALUES (unhex(?), ?, ?, ?)`,
      ...[name, noOf(id), role, since],
    );
  return [
    ...[...purchases].flatMap(([name, { own, hands }]) => [
      remove("name = unhex(?) AND held > 0", name),
      ...own === null ? [] : [insert(name, own, ROLES.own, 0)],
      ...hands.map((id, at) => insert(name, id, ROLES.hand, at + 1)),
    ]),
    ...[...waits].flatMap(([id, wait]) => [
      remove("no = ? AND held = 0", noOf(id)),
      ...wait ? [insert(wait.digest, id, ROLES.wait, wait.position)] : [],
    ]),
  ];
}

/** The part of the fold that tests replace to play another version. */
export interface FoldCode {
  /** Version of the fold. */
  readonly version: number;
  /** Turns events into facts. */
  readonly readFact: (event: RecordedEvent) => Fact;
}

export const FOLD: FoldCode = { version: FOLD_VERSION, readFact };

/** Takes what names erased people out of new events, before anything reads them. */
export type RedactNew = (
  driver: Driver,
  events: readonly RecordedEvent[],
  guard: Guard,
) => Promise<
  {
    readonly events: readonly RecordedEvent[];
    readonly statements: readonly Statement[];
  }
>;

export interface ProjectOptions {
  readonly assets: AssetTable;
  readonly fold?: FoldCode;
  readonly redactNew?: RedactNew;
  /** Most events of a step. @default 1000 */
  readonly maxEvents?: number;
  /** Most bytes of bodies of a step, unless one event has more. @default 4 MiB */
  readonly maxBytes?: number;
}

export interface Projected {
  /** Events folded; 0 when none waits. */
  readonly events: number;
  /** Whether it logged transitions that subscriptions wait for. */
  readonly transitions: boolean;
  /** Whether a webhook named what the poller is to confirm. */
  readonly requests: boolean;
}

/** Folds the next events. */
export function project(
  driver: Driver,
  options: ProjectOptions,
): Promise<Projected> {
  return retryLostRaces((mode) => step(driver, options, mode));
}

/** Their log holds events as they were before they were redacted. */
const logsToEmpty = new WeakSet<Driver>();

async function step(
  driver: Driver,
  { assets, fold = FOLD, redactNew, ...limits }: ProjectOptions,
  mode: "read" | "write",
): Promise<Projected> {
  // Others may be reading the log: then the next step tries again.
  if (logsToEmpty.has(driver) && await driver.emptyLog?.() !== false) {
    logsToEmpty.delete(driver);
  }
  const read: Read = (statements) =>
    (mode === "read" ? readRows : write)(driver, statements);
  const batch = await readBatch(read, limits);
  const { guard, stored } = batch;
  if (stored.length === 0 || guard.foldVersion !== fold.version) {
    return { events: 0, transitions: false, requests: false };
  }
  const redacted = guard.erasures > 0 && redactNew !== undefined
    ? await redactNew(driver, stored, guard)
    : { events: stored, statements: [] };
  const { hash } = guard;
  const events = redacted.events.map((event): BatchEvent => ({
    event,
    fact: fold.readFact(event),
    imported: batch.imported.some(([from, to]) =>
      event.position >= from && event.position <= to
    ),
  }));
  const known = await loadKnown(read, events, { ...batch, ...fold });
  const changes = new Step(known, { assets, ...guard });
  for (const event of events) changes.take(event);
  const releases = logReleases(
    changes.transitions,
    await loadReleases(read, changes.transitions, {
      ...guard,
      orders: changes.orders,
    }),
  );
  const told = tellAll(changes, releases);
  for (const id of releases.orders.keys()) changes.changed.order.add(id);
  const { position } = stored.at(-1) ?? guard;
  await driver.batch([
    moveGuard(guard, { position, counts: counted(guard, redacted.events) }),
    ...redacted.statements,
    insertSeal(sealNext(batch.seal, redacted.events)),
    ...rowStatements(changes, { ...batch, assets, hash }),
    ...mentionStatements(redacted.events, changes),
    ...events.flatMap(({ fact }) =>
      isExpectation(fact) ? [insertExpected(hash, fact)] : []
    ),
    ...insertMany(
      "INSERT INTO unanswered",
      events.flatMap(({ fact }) =>
        fact.kind === "delivery_unanswered" && fact.deliveryId !== null
          ? [[fact.deliveryId]]
          : []
      ),
      "ON CONFLICT DO NOTHING",
    ),
    ...purchaseStatements(releases, changes),
    ...logStatements(told, changes, batch),
  ], "write");
  if (redacted.statements.length > 0) logsToEmpty.add(driver);
  return {
    ...{ events: events.length, transitions: told.length > 0 },
    requests: changes.toConfirm.order.size + changes.toConfirm.user.size > 0,
  };
}

type Batch = Awaited<ReturnType<typeof readBatch>>;

async function readBatch(
  read: Read,
  { maxEvents = 1000, maxBytes = 4 << 20 }: Partial<ProjectOptions>,
) {
  const [guard, seal, events, rules, more, subscribers, runs] = await read([
    selectGuard,
    selectLastSeal,
    nextEvents("(SELECT position FROM ledger)", maxEvents, maxBytes),
    selectRules,
    statement(
      `SELECT EXISTS (SELECT 1 FROM expected),
        (SELECT value FROM cursors WHERE name = 'imported'),
        ${LAST_SEQ}`,
    ),
    selectSubscribers,
    selectLookupRuns,
  ]);
  const [anyExpected, imported, lastSeq] = more?.[0] ?? [];
  return {
    guard: guardOf(guard),
    seal: lastSealOf(seal),
    stored: eventsOf(events),
    rules: eventsOf(rules),
    anyExpected: anyExpected === 1,
    imported: JSON.parse(String(imported ?? "[]")) as [number, number][],
    subscribers: subscribersOf(subscribers),
    lookupRuns: (runs ?? []) as LookupRuns,
    lastSeq: Number(lastSeq),
  };
}

/** A row that is there already is written over, but for when to ask. */
const overwriting = (table: Table) => (names: readonly string[]) =>
  `ON CONFLICT (no) DO UPDATE SET ${
    names.filter((name) => name !== "no" && !DUE_COLUMNS.includes(name))
      .map((name) => `${name} = excluded.${name}`).join(", ")
  }, ${dueChanges(table)}`;

function rowStatements(
  changes: Step,
  { lookupRuns, ...context }: RowContext & Pick<Batch, "lookupRuns">,
): Statement[] {
  const lookups: [hash: number, no: number, shown: number][] = [];
  const statements = TABLES.flatMap((table) => {
    const { entity, written }: Kind<OrderFold | UserFold> = KINDS[table];
    const rows: Columns[] = [];
    for (const id of changes.changed[entity]) {
      const row = changes[table].get(id);
      if (row === undefined) continue;
      const { columns, links } = written(row, context);
      const due = dueOf(row.fold, changes.toConfirm[entity].get(id));
      rows.push({ ...columns, ...due });
      const named = table === "orders" ? changes.linksOf(id) : [];
      for (const { kind, link, confirmed } of [...named, ...links]) {
        const hash = context.hash.of(kind, lookupText(kind, link));
        lookups.push([hash, row.no, confirmed ? 1 : 0]);
      }
    }
    return insertRows(`INSERT INTO ${table}`, rows, overwriting(table));
  });
  return [...statements, ...lookupStatements(lookups, lookupRuns)];
}

/** Rows of a run of lookups, about: few enough that its pages stay at hand. */
const LOOKUP_RUN = 65_536;
const LAST_RUN = "(SELECT max(first_no) FROM lookup_runs)";

/** From which number of a row on they hold its lookups, in their order. */
type LookupRuns = readonly (readonly [firstNo: number, run: number])[];

export const selectLookupRuns: Statement = statement(
  "SELECT first_no, run FROM lookup_runs ORDER BY first_no",
);

export function lookupStatements(
  rows: readonly (readonly [hash: number, no: number, shown: number])[],
  runs: LookupRuns,
  runSize: number = LOOKUP_RUN,
): Statement[] {
  if (rows.length === 0) return [];
  // The first run begins with the first of them.
  const sorted = rows.toSorted(([a], [b]) => a - b).map(([hash, no, shown]) => [
    ...[runs.findLast(([first]) => first <= no)?.[1] ?? 0, hash, no, shown],
  ]);
  return [
    statement(
      `INSERT INTO lookup_runs
        SELECT iif(g.run IS NULL, 0, 2 * l.position + 2), coalesce(g.run + 1, 0), 0
        FROM ledger AS l LEFT JOIN lookup_runs AS g ON g.first_no = ${LAST_RUN}
        WHERE g.size IS NULL OR g.size >= ${runSize}`,
    ),
    ...insertMany(
      "INSERT INTO lookup_rows",
      sorted,
      `ON CONFLICT DO UPDATE SET shown = excluded.shown
        WHERE shown < excluded.shown`,
    ),
    statement(
      `UPDATE lookup_runs SET size = size + ? WHERE first_no = ${LAST_RUN}`,
      rows.length,
    ),
  ];
}

/** Which events name which rows; deliveries without a type stand under 0. */
function mentionStatements(
  events: readonly RecordedEvent[],
  { orders, users }: Step,
): Statement[] {
  const rows = events.flatMap((event) =>
    [
      isQuarantined(event) ? 0 : undefined,
      orders.get(event.orderId ?? "")?.no,
      users.get(event.userId ?? "")?.no,
    ].flatMap((no) => no === undefined ? [] : [[no, event.position]])
  );
  return insertMany("INSERT INTO mentions", rows, "ON CONFLICT DO NOTHING");
}

function isQuarantined({ kind, type }: RecordedEvent): boolean {
  return kind === "webhook" && type === null;
}

function counted(
  { counts }: Guard,
  events: readonly RecordedEvent[],
): Record<string, number> {
  const all = { ...counts };
  const names = events.flatMap((event) =>
    isQuarantined(event) ? [event.kind, "quarantined"] : [event.kind]
  );
  for (const name of names) all[name] = (all[name] ?? 0) + 1;
  return all;
}

export interface FoldParts
  extends Pick<ProjectOptions, "assets" | "fold" | "redactNew"> {
  readonly driver: Driver;
}

/** Work that the thread of a database knows by name; what it takes and gives is data. */
export interface Work<Options, Result> {
  readonly name: string;
  make(parts: FoldParts, options: Options): Promise<Result>;
}

export const NEXT_EVENTS = {
  name: "events",
  make: (
    { driver, ...parts }: FoldParts,
    { most }: Most,
  ): Promise<Projected> => project(driver, { ...parts, maxEvents: most }),
};

export interface Most {
  readonly most: number;
}

/** A step should not take longer: an append waits for it. */
const STEP_MS = 45;
const FEWEST_EVENTS = 100;

/**
 * Lets work be done in steps, each of as many events as fit into that time by how long
 * the last one took. It is done in the thread that owns the database, where one does:
 * its fold is that of this version. A server takes appends meanwhile.
 */
export function inSteps<
  Options,
  Result extends { readonly events: number },
>(
  parts: FoldParts,
  { name, make }: Work<Options & Most, Result>,
  most: number,
): (options: Options) => Promise<Result> {
  const { driver: { location, work }, assets, fold = FOLD } = parts;
  let size = location === "remote" ? most : FEWEST_EVENTS;
  return async (options) => {
    const beganMs = performance.now();
    const asked = { ...options, most: size };
    const result = work !== undefined && fold === FOLD
      ? await work(name, { assets, ...asked }) as Result
      : await make(parts, asked);
    const ms = performance.now() - beganMs;
    // A step with few events says little of how long many take.
    if (location !== "remote" && result.events >= size / 2 && ms > 0) {
      const wanted = Math.max(result.events * STEP_MS / ms, FEWEST_EVENTS);
      size = Math.round(Math.min(Math.max(wanted, size / 2), 2 * size, most));
    }
    return result;
  };
}
