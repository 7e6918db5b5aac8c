/** How much a ledger holds, and how far it is folded. */
import { EVENT_KINDS, type EventKind } from "../machines/machine.ts";
import type { Historic } from "../releases/order_release.ts";
import {
  type Driver,
  listed,
  read,
  select,
  selectValue,
  statement,
  write,
} from "../store/database.ts";
import { type Guard, guardOf, selectGuard } from "../projection/guard.ts";
import { HISTORIC } from "../projection/log.ts";
import { timeOf } from "../store/events.ts";
import { asked, where } from "./pages.ts";

/** How much a ledger holds, and how far it is folded. */
export interface LedgerStats {
  /** Events by kind; `webhook` counts quarantined ones too. */
  readonly events: Readonly<Record<EventKind, number>>;
  /** Deliveries without a text `type`, JSON objects or not. */
  readonly quarantined: number;
  /** Orders. */
  readonly orders: number;
  /** Users. */
  readonly users: number;
  /** Position of the last event; 0 when there is none. */
  readonly position: number;
  /** Events that are not folded yet. */
  readonly lag: number;
}

export async function readStats(driver: Driver): Promise<LedgerStats> {
  const [guard, unfolded = [], counts] = await read(driver, [
    selectGuard,
    statement(`SELECT kind, count(*) FROM events
        WHERE position > (SELECT position FROM ledger) GROUP BY kind`),
    statement(`SELECT (SELECT count(*) FROM orders),
        (SELECT count(*) FROM users),
        (SELECT coalesce(max(position), 0) FROM events)`),
  ]);
  const { counts: folded } = guardOf(guard);
  const events = Object.fromEntries(
    Object.keys(EVENT_KINDS).map((kind) => [kind, folded[kind] ?? 0]),
  ) as Record<EventKind, number>;
  let lag = 0;
  for (const [kind, count] of unfolded) {
    events[kind as EventKind] += Number(count);
    lag += Number(count);
  }
  const [orders = 0, users = 0, position = 0] = (counts?.[0] ?? []).map(Number);
  const { quarantined = 0 } = folded;
  return { events, quarantined, orders, users, position, lag };
}

/** Counts events that are not folded yet. */
export async function readLag(driver: Driver): Promise<number> {
  const sql = `SELECT count(*) FROM events
    WHERE position > (SELECT position FROM ledger)`;
  return Number(await selectValue(driver, sql));
}

/** Reads up to which position the states are folded, and by which version. */
export async function readFolded(
  driver: Driver,
): Promise<Pick<Guard, "position" | "foldVersion">> {
  const [guard] = await read(driver, [selectGuard]);
  return guardOf(guard);
}

/** Orders of one status and trust that may still change. */
interface OpenOrders {
  readonly status: string;
  readonly trust: string;
  readonly count: number;
  /** When the oldest was created, as far as is known; UTC ISO 8601. */
  readonly oldestAt: string;
}

/** How many orders there are, by the labels of the metrics. */
export interface OrderTally {
  readonly byStatus: ReadonlyMap<string, number>;
  readonly open: readonly OpenOrders[];
  /** Those with an anomaly, by its kind; an order counts for each kind. */
  readonly byAnomaly: ReadonlyMap<string, number>;
}

/** Statuses after which an order may change no more, in SQL. */
const FINAL = "'success', 'failed', 'cancelled'";

/** Counts orders. It looks at every order, so leave time between two calls. */
export async function tallyOrders(driver: Driver): Promise<OrderTally> {
  const [statuses = [], open = [], anomalies = []] = await read(
    driver,
    [
      "SELECT status, count(*) FROM orders GROUP BY status",
      // By what indexes hold: a row has a thousand bytes.
      `SELECT status, trust, count(*), min(at) FROM (
        SELECT status, trust, at FROM orders
        WHERE trust <> 'confirmed' OR +status NOT IN (${FINAL})
        UNION ALL SELECT status, trust, at FROM orders
        WHERE anomalies IS NOT NULL AND instr(anomalies, ' contested ') > 0
          AND trust = 'confirmed' AND +status IN (${FINAL}))
      GROUP BY status, trust`,
      `SELECT anomalies, count(*) FROM orders WHERE anomalies IS NOT NULL
      GROUP BY anomalies`,
    ].map((sql) => statement(sql)),
  );
  const byAnomaly = new Map<string, number>();
  for (const [kinds, count] of anomalies) {
    for (const kind of String(kinds).trim().split(" ")) {
      byAnomaly.set(kind, (byAnomaly.get(kind) ?? 0) + Number(count));
    }
  }
  return {
    byStatus: new Map(
      statuses.map(([status, count]) => [String(status), Number(count)]),
    ),
    open: open.map(([status, trust, count, oldestAt]) => ({
      status: String(status),
      trust: String(trust),
      count: Number(count),
      oldestAt: timeOf(oldestAt) ?? "",
    })),
    byAnomaly,
  };
}

/** Counts what ended before the ledger went live and of which nothing was sent. */
export async function readHistoric(driver: Driver): Promise<Historic> {
  const [row] = await select(
    driver,
    `SELECT (SELECT count(*) FROM orders WHERE historic > 0),
      (SELECT count(DISTINCT no) FROM log
        WHERE flags > 1 AND flags & ${HISTORIC} <> 0 AND no % 2 = 1),
      (SELECT count(*) FROM orders WHERE historic = 2)`,
  );
  const [orders = 0, users = 0, listed = 0] = (row ?? []).map(Number);
  return { orders, users, listed };
}

/** A process that moves deliveries, and the folder that it takes them from. */
export interface Mover {
  readonly place: string;
  /** Name of the process, which no other ever has. */
  readonly process: string;
  /** Ended processes whose deliveries are counted as its own now. @default {none} */
  readonly takenOver?: ReadonlySet<string>;
  /** Other processes of which files are in the folder. @default {none} */
  readonly others?: ReadonlySet<string>;
  /** When the folder was listed, ms since 1970. @default {never} */
  readonly listedMs?: number;
}

/** The longest pause between two writes of a mover whose process runs, 2 minutes. */
const IS_FRESH = "abs(?1 - written_at) <= 120000";

/** Deliveries that were answered, and that the ledger does not have yet. */
export interface WaitingDeliveries {
  /** How many, as last written down. */
  readonly count: number;
  /** When the oldest of them was received, ms since 1970. */
  readonly oldestMs: number;
  /**
   * How many of them may wait in the files of a process that has ended: for two
   * minutes it wrote nothing.
   */
  readonly ended: number;
}

/** Sums up what waits; null when nothing does. */
export async function readWaiting(
  driver: Driver,
  nowMs: number,
): Promise<WaitingDeliveries | null> {
  const [row = []] = await select(
    driver,
    `SELECT sum(deliveries), min(oldest_at),
        sum(iif(${IS_FRESH}, 0, deliveries)) FROM waiting`,
    nowMs,
  );
  const [count = 0, oldestMs = 0, ended = 0] = row.map(Number);
  return row[0] === null ? null : { count, oldestMs, ended };
}

/** When the oldest delivery came that waits with a process that still runs. */
export async function readOldestWaiting(
  driver: Driver,
  nowMs: number,
): Promise<number | null> {
  const sql = `SELECT min(oldest_at) FROM waiting WHERE ${IS_FRESH}`;
  const oldestMs = await selectValue(driver, sql, nowMs);
  return oldestMs === null ? null : Number(oldestMs);
}

/** Writes down what waits with a mover; null where nothing does. */
export async function writeWaiting(
  driver: Driver,
  mover: Mover,
  waiting: Omit<WaitingDeliveries, "ended"> | null,
  nowMs: number,
): Promise<void> {
  const { place, process, takenOver = [], others = [], listedMs = 0 } = mover;
  // Rows of processes whose deliveries are counted elsewhere or are gone.
  const gone = where(
    `(place = ?1 AND process = ?2 AND ?3)
      OR process IN (SELECT value FROM json_each(?4))
      OR (place = ?1 AND process <> ?2 AND written_at < ?5
        AND process NOT IN (SELECT value FROM json_each(?6)))`,
    ...[place, process, waiting === null ? 1 : 0, listed(takenOver)],
    ...[Math.max(listedMs, 0), listed(others)],
  );
  if (waiting === null) {
    const sql = `SELECT 1 FROM waiting WHERE ${gone.sql} LIMIT 1`;
    // Most often there is nothing to remove, and then nothing is written.
    if ((await select(driver, sql, ...gone.args)).length === 0) return;
  }
  await write(driver, [
    ...asked(waiting ?? undefined, ({ count, oldestMs }) =>
      statement(
        "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?, ?)",
        ...[place, process, count, Math.floor(oldestMs), Math.floor(nowMs)],
      )),
    statement(`DELETE FROM waiting WHERE ${gone.sql}`, ...gone.args),
  ]);
}
