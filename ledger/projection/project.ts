/** A step: reads what a batch of events needs, folds it, and writes it behind the guard. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isWitnessRule } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import type { NewTransition } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { FOLD_VERSION } from "./fold_version.ts";
import {
  type LoggedReleases,
  logReleases,
  NOTHING_LOGGED,
} from "../releases/release_log.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import type { UserFold } from "../users/user_fold.ts";
import {
  insertSeal,
  lastSealOf,
  type Seal,
  sealNext,
  selectLastSeal,
} from "../evidence/seals.ts";
import { DUE_COLUMNS, dueChanges, dueOfOrder, dueOfUser } from "./due.ts";
import { insertMany, listed } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import {
  outboxStatements,
  selectSubscribers,
  type Subscriber,
  subscribersOf,
} from "./subscribers.ts";
import {
  NOTHING_TOLD,
  packOrder,
  packUser,
  type Row,
  type Told,
} from "./doc.ts";
import { insertExpected } from "./expected.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import {
  addOrderRows,
  addUserRows,
  askedBy,
  type KnownRows,
  loadJoined,
  loadReleases,
  type Mode,
  NOTHING_JOINED,
  ROLES,
  selectOrderRows,
  selectUserRows,
} from "./load.ts";
import { insertTransition, tell, withReleases } from "./log.ts";
import { LookupHash, type LookupKind } from "./lookup_hash.ts";
import {
  lookupText,
  ORDER_COLUMNS,
  orderColumns,
  orderView,
  stateLinks,
  USER_COLUMNS,
  userColumns,
} from "./rows.ts";
import { type BatchEvent, type Step, takeStep } from "./step.ts";

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
  events: readonly StoredEvent[],
  guard: Guard,
) => Promise<
  {
    readonly events: readonly StoredEvent[];
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

/** What a step did. */
export interface Projected {
  /** Events folded; 0 when none waits. */
  readonly events: number;
  /** Position of the last event that is folded. */
  readonly position: number;
  /** Whether it logged transitions that subscriptions wait for. */
  readonly transitions: boolean;
  /** Whether a webhook named what the poller is to confirm. */
  readonly requests: boolean;
}

/**
 * Folds the next events.
 *
 * @throws {LedgerError} When the database fails.
 */
export function project(
  driver: Driver,
  options: ProjectOptions,
): Promise<Projected> {
  return retryLostRaces((mode) => step(driver, options, mode));
}

/** Databases whose log holds events as they were before they were redacted. */
const logsToEmpty = new WeakSet<Driver>();

async function step(
  driver: Driver,
  options: ProjectOptions,
  mode: Mode,
): Promise<Projected> {
  // Others may be reading the log: then the next step tries again.
  if (logsToEmpty.has(driver) && await driver.emptyLog?.() !== false) {
    logsToEmpty.delete(driver);
  }
  const fold = options.fold ?? FOLD;
  const batch = await readBatch(driver, options, mode);
  const { guard } = batch;
  const nothing = { transitions: false, requests: false };
  if (batch.stored.length === 0 || guard.foldVersion !== fold.version) {
    return { events: 0, position: guard.position, ...nothing };
  }
  const redacted = guard.erasures > 0 && options.redactNew !== undefined
    ? await options.redactNew(driver, batch.stored, guard)
    : { events: batch.stored, statements: [] };
  const events = batchEvents(redacted.events, batch.imported, fold.readFact);
  const rules = batch.rules.map(fold.readFact).filter(isWitnessRule);
  const hash = new LookupHash(guard.key);
  const known = await readRows(driver, events, mode);
  const asked = askedBy(events);
  const isJoined = batch.anyExpected || asked.links.size > 0 ||
    asked.rulesFrom.size > 0;
  const joined = isJoined
    ? await loadJoined(events, { orders: known.orders, asked }, {
      ...{ driver, mode, hash, readFact: fold.readFact },
    })
    : NOTHING_JOINED;
  const changes = takeStep(events, {
    orders: foldsOf(known.orders),
    users: foldsOf(known.users),
    rules,
    ...joined,
    expectations: [...joined.expectations],
  }, {
    assets: options.assets,
    createdAt: guard.createdAt,
    goLive: guard.goLive,
  });
  const isLogged = changes.transitions.some((one) =>
    "now" in one || "took" in one
  );
  const releases = logReleases(
    changes.transitions,
    isLogged
      ? await loadReleases(
        changes.transitions,
        { orders: known.orders, key: guard.key },
        { driver, mode },
      )
      : NOTHING_LOGGED,
  );
  const rows = newRows(known, changes, releases);
  const told = tellAll(rows, releases.transitions);
  const sealed = sealNext(batch.seal, redacted.events);
  const position = events.at(-1)?.fact.position ?? guard.position;
  await driver.batch([
    moveGuard(guard, { position, counts: counted(guard, redacted.events) }),
    ...redacted.statements,
    insertSeal(sealed),
    ...userStatements(rows, changes),
    ...orderStatements(rows, { changes, assets: options.assets, hash }),
    ...mentionStatements(redacted.events, rows),
    ...changes.expectations.map((one) => insertExpected(hash, one)),
    ...insertMany(
      "unanswered",
      changes.unanswered.map((id) => [id]),
      "ON CONFLICT DO NOTHING",
    ),
    ...purchaseStatements(releases, rows),
    ...logStatements(told, rows, batch),
  ], "write");
  if (redacted.statements.length > 0) logsToEmpty.add(driver);
  return {
    events: events.length,
    position,
    transitions: told.length > 0,
    requests: changes.toConfirm.order.size + changes.toConfirm.user.size > 0,
  };
}

interface Batch {
  readonly guard: Guard;
  readonly seal: Seal;
  readonly stored: readonly StoredEvent[];
  readonly rules: readonly StoredEvent[];
  readonly anyExpected: boolean;
  readonly imported: readonly (readonly [from: number, to: number])[];
  readonly subscribers: readonly Subscriber[];
  /** The last transition that is logged. */
  readonly lastSeq: number;
}

async function readBatch(
  driver: Driver,
  { maxEvents = 1000, maxBytes = 4 << 20 }: ProjectOptions,
  mode: Mode,
): Promise<Batch> {
  const found = await driver.batch([
    selectGuard,
    selectLastSeal,
    { sql: NEXT_EVENTS, args: [maxEvents, maxBytes] },
    {
      sql: `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.kind = 'witness_required' AND e.${IS_RARE}
          AND e.position <= (SELECT position FROM ledger)`,
      args: [],
    },
    {
      sql: `SELECT EXISTS (SELECT 1 FROM expected),
        (SELECT value FROM cursors WHERE name = 'imported'),
        coalesce((SELECT max(seq) FROM log), 0)`,
      args: [],
    },
    selectSubscribers,
  ], mode);
  const [guard, seal, events, rules, more, subscribers] = found.map((
    { rows },
  ) => rows);
  const [anyExpected, imported, lastSeq] = more?.[0] ?? [];
  return {
    guard: guardOf(guard),
    seal: lastSealOf(seal),
    stored: eventsOf(events),
    rules: eventsOf(rules),
    anyExpected: anyExpected === 1,
    imported: JSON.parse(String(imported ?? "[]")),
    subscribers: subscribersOf(subscribers),
    lastSeq: Number(lastSeq),
  };
}

const AFTER = "position > (SELECT position FROM ledger)";

/** So many events, of so many bytes together, but one at least. */
const NEXT_EVENTS = `SELECT ${EVENT_COLUMNS} FROM events AS e
  WHERE e.${AFTER} AND e.position <= (
    SELECT max(position) FROM (
      SELECT position, size, sum(size) OVER (ORDER BY position) AS total
      FROM (SELECT position, length(body) AS size FROM events
        WHERE ${AFTER} ORDER BY position LIMIT ?1))
    WHERE total <= ?2 OR total = size)
  ORDER BY e.position`;

function batchEvents(
  stored: readonly StoredEvent[],
  imported: Batch["imported"],
  readFact: FoldCode["readFact"],
): BatchEvent[] {
  return stored.map((event) => ({
    fact: readFact(event),
    named: event,
    delivered: event.kind === "webhook",
    imported: imported.some(([from, to]) =>
      event.position >= from && event.position <= to
    ),
  }));
}

/** The rows of the orders and users that the events name. */
async function readRows(
  driver: Driver,
  events: readonly BatchEvent[],
  mode: Mode,
): Promise<KnownRows> {
  const orderIds = new Set<string>();
  const userIds = new Set<string>();
  for (const { fact, named } of events) {
    for (const id of [fact.orderId, named.orderId]) if (id) orderIds.add(id);
    for (const id of [fact.userId, named.userId]) if (id) userIds.add(id);
  }
  const known: KnownRows = { orders: new Map(), users: new Map() };
  const [orders, users] = await driver.batch([
    selectOrderRows(
      "o.id IN (SELECT value FROM json_each(?))",
      listed(orderIds),
    ),
    selectUserRows("u.id IN (SELECT value FROM json_each(?))", listed(userIds)),
  ], mode);
  addOrderRows(known.orders, orders?.rows);
  addUserRows(known.users, users?.rows);
  return known;
}

function foldsOf<Fold>(
  rows: ReadonlyMap<string, Row<Fold>>,
): Map<string, Fold> {
  return new Map([...rows].map(([id, { fold }]) => [id, fold]));
}

/** The rows as the batch leaves them; those that it does not change included. */
function newRows(
  known: KnownRows,
  changes: Step,
  releases: LoggedReleases,
): KnownRows & { readonly changed: Set<string> } {
  const orders = new Map(known.orders);
  const users = new Map(known.users);
  const changed = new Set(changes.orders.keys());
  for (const [id, fold] of changes.orders) {
    const before = orders.get(id);
    const listed = changes.historic.get(id);
    const historic = changes.revived.has(id)
      ? 0
      : listed === undefined
      ? before?.historic ?? 0
      : listed
      ? 2
      : 1;
    orders.set(id, {
      no: before?.no ?? 2 * (changes.firstOf.order.get(id) ?? 0),
      told: before?.told ?? NOTHING_TOLD,
      ...{ fold, historic },
    });
  }
  for (const [id, release] of releases.orders) {
    const row = orders.get(id);
    if (row === undefined) continue;
    changed.add(id);
    orders.set(id, { ...row, told: withReleases(row.told, release) });
  }
  for (const [id, fold] of changes.users) {
    const before = users.get(id);
    users.set(id, {
      no: before?.no ?? 2 * (changes.firstOf.user.get(id) ?? 0) + 1,
      told: before?.told ?? NOTHING_TOLD,
      historic: before?.historic ?? 0,
      fold,
    });
  }
  return { orders, users, changed };
}

/** Tells what is news, and notes with the rows what was told. */
function tellAll(
  rows: KnownRows,
  transitions: readonly NewTransition[],
): NewTransition[] {
  const news: NewTransition[] = [];
  for (const transition of transitions) {
    const all: Map<string, { readonly told: Told }> = transition.entity ===
        "order"
      ? rows.orders
      : rows.users;
    const row = all.get(transition.id);
    const one = tell(row?.told ?? NOTHING_TOLD, transition);
    if (row === undefined || one === null) continue;
    all.set(transition.id, { ...row, told: one.told });
    news.push(one.transition);
  }
  return news;
}

type NewRows = ReturnType<typeof newRows>;

const upsert = (table: "orders" | "users", columns: readonly string[]) => {
  const all = [...columns, ...DUE_COLUMNS];
  return `INSERT INTO ${table} (${all.join(", ")}) VALUES (${
    all.map(() => "?").join(", ")
  }) ON CONFLICT (no) DO UPDATE SET ${
    columns.slice(1).map((one) => `${one} = excluded.${one}`).join(", ")
  }, ${dueChanges(table)}`;
};
const UPSERT_ORDER = upsert("orders", ORDER_COLUMNS);
const UPSERT_USER = upsert("users", USER_COLUMNS);

function userStatements(
  rows: NewRows,
  changes: Step,
): Statement[] {
  return [...changes.users.keys()].map((id) => {
    const row = rows.users.get(id) as Row<UserFold>;
    const values = {
      ...userColumns(row),
      told: JSON.stringify(row.told),
      fold: packUser(row.fold),
    } as Readonly<Record<string, string>>;
    const named = changes.toConfirm.user.get(id);
    return {
      sql: UPSERT_USER,
      args: [
        ...USER_COLUMNS.map((column) => values[column] ?? null),
        ...dueOfUser(named),
      ],
    };
  });
}

function orderStatements(
  rows: NewRows,
  { changes, assets, hash }: {
    readonly changes: Step;
    readonly assets: AssetTable;
    readonly hash: LookupHash;
  },
): Statement[] {
  const statements: Statement[] = [];
  const links = Map.groupBy(changes.links, ({ orderId }) => orderId);
  const lookups = new Map<string, (string | number)[]>();
  for (const id of rows.changed) {
    const row = rows.orders.get(id) as Row<OrderFold>;
    const state = orderView(row, { assets });
    const values = {
      ...orderColumns(row, state, hash),
      told: JSON.stringify(row.told),
      fold: packOrder(row.fold),
    } as Readonly<Record<string, string | number | null>>;
    const named = changes.toConfirm.order.get(id);
    statements.push({
      sql: UPSERT_ORDER,
      args: [
        ...ORDER_COLUMNS.map((column) => values[column] ?? null),
        ...dueOfOrder(row.fold, named),
      ],
    });
    const shown = state.confirmed === null ? 0 : 1;
    for (
      const { kind, link, confirmed } of [
        ...(links.get(id) ?? []),
        ...stateLinks(state).map((one) => ({ ...one, confirmed: shown === 1 })),
      ] as { kind: LookupKind; link: string; confirmed: boolean }[]
    ) {
      const at = hash.of(kind, lookupText(kind, link));
      const key = `${at} ${row.no}`;
      const before = Number(lookups.get(key)?.[2] ?? 0);
      lookups.set(key, [at, row.no, Math.max(before, confirmed ? 1 : 0)]);
    }
  }
  statements.push(...insertMany(
    "lookup",
    [...lookups.values()].sort((a, b) => Number(a[0]) - Number(b[0])),
    `ON CONFLICT DO UPDATE SET shown = excluded.shown
      WHERE shown < excluded.shown`,
  ));
  return statements;
}

/** Which events name which rows; deliveries without a type stand under 0. */
function mentionStatements(
  events: readonly StoredEvent[],
  { orders, users }: KnownRows,
): Statement[] {
  const rows: [no: number, position: number][] = [];
  for (const { kind, type, position, orderId, userId } of events) {
    const nos = [
      kind === "webhook" && type === null ? 0 : undefined,
      orders.get(orderId ?? "")?.no,
      users.get(userId ?? "")?.no,
    ];
    for (const no of nos) if (no !== undefined) rows.push([no, position]);
  }
  return insertMany("mentions", rows, "ON CONFLICT DO NOTHING");
}

/** Whether it is a delivery without a type that is text. */
function isQuarantined({ kind, type }: StoredEvent): boolean {
  return kind === "webhook" && type === null;
}

function counted(
  { counts }: Guard,
  events: readonly StoredEvent[],
): Record<string, number> {
  const all = { ...counts };
  const add = (name: string) => all[name] = (all[name] ?? 0) + 1;
  for (const event of events) {
    add(event.kind);
    if (isQuarantined(event)) add("quarantined");
  }
  return all;
}

/** Who has taken which purchase, and who waits for it. */
export function purchaseStatements(
  { purchases, waits }: Pick<LoggedReleases, "purchases" | "waits">,
  { orders }: Pick<KnownRows, "orders">,
): Statement[] {
  const insert = (name: string, id: string, role: number, since: number) => ({
    sql: `INSERT INTO purchases (name, no, held, since)
      VALUES (unhex(?), ?, ?, ?)`,
    args: [name, orders.get(id)?.no ?? null, role, since],
  });
  return [
    ...[...purchases].flatMap(([name, { own, hands }]) => [
      {
        sql: "DELETE FROM purchases WHERE name = unhex(?) AND held > 0",
        args: [name],
      },
      ...own === null ? [] : [insert(name, own, ROLES.own, 0)],
      ...hands.map((id, at) => insert(name, id, ROLES.hand, at + 1)),
    ]),
    ...[...waits].flatMap(([id, wait]) => [
      {
        sql: "DELETE FROM purchases WHERE no = ? AND held = 0",
        args: [orders.get(id)?.no ?? null],
      },
      ...wait === null
        ? []
        : [insert(wait.digest, id, ROLES.wait, wait.position)],
    ]),
  ];
}

function logStatements(
  transitions: readonly NewTransition[],
  { orders, users }: KnownRows,
  { lastSeq, subscribers }: Batch,
): Statement[] {
  const logged = transitions.map((transition, at) => {
    const rows: ReadonlyMap<string, { readonly no: number }> =
      transition.entity === "order" ? orders : users;
    const no = rows.get(transition.id)?.no ?? 0;
    return { transition, seq: lastSeq + at + 1, no };
  });
  return [
    ...logged.map(({ transition, ...place }) =>
      insertTransition(transition, place)
    ),
    ...outboxStatements(subscribers, logged),
  ];
}
