/** A step: reads what a batch of events needs, folds it, and writes it behind the guard. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import {
  insertSeal,
  lastSealOf,
  sealNext,
  selectLastSeal,
} from "../evidence/seals.ts";
import { logReleases } from "../releases/release_log.ts";
import { insertMany } from "../store/database.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { UserFold } from "../users/user_fold.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import { selectRules } from "./anew.ts";
import { DUE_COLUMNS, dueChanges, dueOf } from "./due.ts";
import { insertExpected } from "./expected.ts";
import { FOLD_VERSION } from "./fold_version.ts";
import { type Guard, guardOf, moveGuard, selectGuard } from "./guard.ts";
import {
  loadKnown,
  loadReleases,
  purchaseStatements,
  type Read,
} from "./load.ts";
import { logStatements, tellAll } from "./log.ts";
import {
  insertRow,
  type Kind,
  KINDS,
  lookupText,
  type RowContext,
  type Table,
  TABLES,
} from "./rows.ts";
import { type BatchEvent, Step } from "./step.ts";
import { selectSubscribers, subscribersOf } from "./subscribers.ts";

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
  const read = async (statements: readonly Statement[]) =>
    (await driver.batch(statements, mode)).map(({ rows }) => rows);
  const batch = await readBatch(read, limits);
  const { guard } = batch;
  if (batch.stored.length === 0 || guard.foldVersion !== fold.version) {
    const { position } = guard;
    return { events: 0, position, transitions: false, requests: false };
  }
  const redacted = guard.erasures > 0 && redactNew !== undefined
    ? await redactNew(driver, batch.stored, guard)
    : { events: batch.stored, statements: [] };
  const { createdAt, goLive, hash } = guard;
  const events = redacted.events.map((event): BatchEvent => ({
    event,
    fact: fold.readFact(event),
    imported: batch.imported.some(([from, to]) =>
      event.position >= from && event.position <= to
    ),
  }));
  const { readFact } = fold;
  const known = await loadKnown(read, events, { ...batch, readFact });
  const changes = new Step(known, { assets, createdAt, goLive });
  for (const event of events) changes.take(event);
  const releases = logReleases(
    changes.transitions,
    await loadReleases(read, changes.transitions, {
      ...{ orders: changes.orders, key: guard.key },
    }),
  );
  const told = tellAll(changes, releases);
  for (const id of releases.orders.keys()) changes.changed.order.add(id);
  const position = events.at(-1)?.fact.position ?? guard.position;
  await driver.batch([
    moveGuard(guard, { position, counts: counted(guard, redacted.events) }),
    ...redacted.statements,
    insertSeal(sealNext(batch.seal, redacted.events)),
    ...rowStatements(changes, { assets, hash }),
    ...mentionStatements(redacted.events, changes),
    ...events.flatMap(({ fact }) =>
      isExpectation(fact) ? [insertExpected(hash, fact)] : []
    ),
    ...insertMany(
      "unanswered",
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
    ...{ events: events.length, position, transitions: told.length > 0 },
    requests: changes.toConfirm.order.size + changes.toConfirm.user.size > 0,
  };
}

async function readBatch(
  read: Read,
  { maxEvents = 1000, maxBytes = 4 << 20 }: Partial<ProjectOptions>,
) {
  const [guard, seal, events, rules, more, subscribers] = await read([
    selectGuard,
    selectLastSeal,
    { sql: NEXT_EVENTS, args: [maxEvents, maxBytes] },
    selectRules,
    {
      sql: `SELECT EXISTS (SELECT 1 FROM expected),
        (SELECT value FROM cursors WHERE name = 'imported'),
        coalesce((SELECT max(seq) FROM log), 0)`,
      args: [],
    },
    selectSubscribers,
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

/** A row that is there already is written over, but for when to ask. */
const overwriting = (table: Table) => (names: readonly string[]) =>
  `ON CONFLICT (no) DO UPDATE SET ${
    names.filter((name) => name !== "no" && !DUE_COLUMNS.includes(name))
      .map((name) => `${name} = excluded.${name}`).join(", ")
  }, ${dueChanges(table)}`;

function rowStatements(changes: Step, context: RowContext): Statement[] {
  const statements: Statement[] = [];
  const lookups: [hash: number, no: number, shown: number][] = [];
  for (const table of TABLES) {
    const { entity, written }: Kind<OrderFold | UserFold> = KINDS[table];
    for (const id of changes.changed[entity]) {
      const row = changes[table].get(id);
      if (row === undefined) continue;
      const { columns, links } = written(row, context);
      const due = dueOf(row.fold, changes.toConfirm[entity].get(id));
      const into = `INSERT INTO ${table}`;
      const conflict = overwriting(table);
      statements.push(insertRow(into, { ...columns, ...due }, conflict));
      const named = table === "orders" ? changes.linksOf(id) : [];
      for (const { kind, link, confirmed } of [...named, ...links]) {
        const hash = context.hash.of(kind, lookupText(kind, link));
        lookups.push([hash, row.no, confirmed ? 1 : 0]);
      }
    }
  }
  return [...statements, ...lookupStatements(lookups)];
}

/** Rows of a run of lookups, about: few enough that its pages stay at hand. */
const LOOKUP_RUN = 65_536;
const LAST_RUN = "(SELECT max(first_no) FROM lookup_runs)";

export function lookupStatements(
  rows: readonly (readonly [hash: number, no: number, shown: number])[],
  runSize: number = LOOKUP_RUN,
): Statement[] {
  if (rows.length === 0) return [];
  const sorted = rows.toSorted(([a], [b]) => a - b);
  return [
    {
      sql: `INSERT INTO lookup_runs
        SELECT iif(g.run IS NULL, 0, 2 * l.position + 2), coalesce(g.run + 1, 0), 0
        FROM ledger AS l LEFT JOIN lookup_runs AS g ON g.first_no = ${LAST_RUN}
        WHERE g.size IS NULL OR g.size >= ${runSize}`,
      args: [],
    },
    {
      sql: `INSERT INTO lookup_rows SELECT (SELECT run FROM lookup_runs
          WHERE first_no <= value ->> 1 ORDER BY first_no DESC LIMIT 1),
          value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
        ON CONFLICT DO UPDATE SET shown = excluded.shown
          WHERE shown < excluded.shown`,
      args: [JSON.stringify(sorted)],
    },
    {
      sql:
        `UPDATE lookup_runs SET size = size + ? WHERE first_no = ${LAST_RUN}`,
      args: [rows.length],
    },
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
  return insertMany("mentions", rows, "ON CONFLICT DO NOTHING");
}

function isQuarantined({ kind, type }: RecordedEvent): boolean {
  return kind === "webhook" && type === null;
}

function counted(
  { counts }: Guard,
  events: readonly RecordedEvent[],
): Record<string, number> {
  const all = { ...counts };
  const add = (name: string) => all[name] = (all[name] ?? 0) + 1;
  for (const event of events) {
    add(event.kind);
    if (isQuarantined(event)) add("quarantined");
  }
  return all;
}
