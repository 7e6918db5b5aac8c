import type { RecordedEvent } from "../../events/event.ts";
import type { Erased, ErasedPart } from "../../evidence/commitment.ts";
import type { ResultSet, SqlValue, Statement } from "../driver/driver.ts";
import { columnsOf, recordedEvent } from "../event_row.ts";

/**
 * Who was erased, and what must not come back.
 *
 * - `erasure_keys`: secrets that names are hidden with; the first is our own,
 *   others came with imports.
 * - `erased_names`: hidden user and click ids. `returned_at` says when such a
 *   user became a customer again.
 * - `erased_orders`: what stands in an order for whom it named. Order ids stay.
 * - `erased_people`: one row for each erasure.
 * - `returned_orders`: orders that erased users made later.
 *
 * `projections.erasures` counts erasures, so that no process writes a state
 * that it read before one.
 */
export const erasuresSchema: readonly string[] = [
  `CREATE TABLE erasure_keys (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE
  ) STRICT`,
  `CREATE TABLE erased_names (
    hash BLOB PRIMARY KEY,
    kind TEXT NOT NULL,
    erased_at TEXT NOT NULL,
    returned_at TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erased_orders (
    order_id TEXT PRIMARY KEY,
    user_id TEXT,
    click_id TEXT,
    differs INTEGER NOT NULL,
    erased_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE erased_people (
    pseudonym TEXT PRIMARY KEY,
    erased_at TEXT NOT NULL,
    events INTEGER NOT NULL,
    orders INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE returned_orders (
    order_id TEXT PRIMARY KEY,
    known_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  "ALTER TABLE projections ADD COLUMN erasures INTEGER NOT NULL DEFAULT 0",
];

/** An event, and what stands for its erased part. */
export interface ErasableEvent {
  /** The event. */
  readonly event: RecordedEvent;
  /** What stands for its erased part; null where nothing was erased. */
  readonly erased: Erased | null;
}

const erasable = `SELECT ${columnsOf("e")}, x.part, x.commitment
  FROM events AS e LEFT JOIN erasures AS x ON x.position = e.position`;

/** Reads the answer of a statement that selects erasable events. */
export function erasableEvents(result: ResultSet | undefined): ErasableEvent[] {
  return result?.rows.map((row) => ({
    event: recordedEvent(row),
    erased: row[14] instanceof Uint8Array
      ? { part: row[13] as ErasedPart, commitment: row[14] }
      : null,
  })) ?? [];
}

/** Selects the events up to a position that name one of some users. */
export function selectErasableOfUsers(
  userIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.user_id IN (SELECT value FROM json_each(?1))
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(userIds), position],
  };
}

/** Selects the events up to a position that name one of some orders. */
export function selectErasableOfOrders(
  orderIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.order_id IN (SELECT value FROM json_each(?1))
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(orderIds), position],
  };
}

/** Selects events by position. */
export function selectErasableAt(positions: readonly number[]): Statement {
  return {
    sql: `${erasable} WHERE e.position IN (SELECT value FROM json_each(?1))
      ORDER BY e.position`,
    args: [JSON.stringify(positions)],
  };
}

/**
 * Selects the webhooks that name nothing but one of some click ids. No index
 * has click ids, so this looks at every event.
 */
export function selectErasableOfClicks(
  clickIds: readonly string[],
  position: number,
): Statement {
  return {
    sql: `${erasable} WHERE e.click_id IN (SELECT value FROM json_each(?1))
      AND e.order_id IS NULL AND e.user_id IS NULL AND e.kind = 'webhook'
      AND e.position <= ?2 ORDER BY e.position`,
    args: [JSON.stringify(clickIds), position],
  };
}

/** Selects the orders whose state names a user. */
export function selectOrdersOfUser(userId: string): Statement {
  return {
    sql: `SELECT order_id FROM orders WHERE user_id = ?1 AND generation =
      (SELECT generation FROM projections WHERE name = 'live')`,
    args: [userId],
  };
}

/** Selects positions of sessions under links: rows of kind, link, position. */
export function selectSessionPositions(
  links: readonly (readonly [kind: string, link: string])[],
): Statement {
  return {
    sql: `SELECT l.kind, l.link, l.position FROM json_each(?1) AS w
      CROSS JOIN session_links AS l ON l.kind = w.value ->> 0
        AND l.link = w.value ->> 1 AND l.generation =
          (SELECT generation FROM projections WHERE name = 'live')`,
    args: [JSON.stringify(links)],
  };
}

/** Selects orders under links: rows of kind, link, order id. */
export function selectOrdersOfLinks(
  links: readonly (readonly [kind: string, link: string])[],
): Statement {
  return {
    sql: `SELECT l.kind, l.link, l.order_id FROM json_each(?1) AS w
      CROSS JOIN order_links AS l ON l.kind = w.value ->> 0
        AND l.link = w.value ->> 1 AND l.generation =
          (SELECT generation FROM projections WHERE name = 'live')`,
    args: [JSON.stringify(links)],
  };
}

/** What is stored in place of an event. */
export interface BlankedEvent {
  /** The event as it is from now on. */
  readonly blanked: Pick<
    RecordedEvent,
    "position" | "eventId" | "orderId" | "userId" | "clickId"
  >;
  /** How much of it is gone. */
  readonly part: ErasedPart;
  /** What stands for that. */
  readonly commitment: Uint8Array;
}

/** Blanks events, and stores what stands for them. */
export function blankEvents(events: readonly BlankedEvent[]): Statement[] {
  const commitments = new Uint8Array(events.length * 32);
  events.forEach(({ commitment }, at) => commitments.set(commitment, at * 32));
  const rows = JSON.stringify(
    events.map(({ blanked, part }) => [
      blanked.position,
      part,
      blanked.eventId,
      blanked.userId,
      blanked.clickId,
      blanked.orderId,
    ]),
  );
  return [{
    sql: `INSERT INTO erasures (position, part, commitment)
      SELECT value ->> 0, value ->> 1, substr(?1, key * 32 + 1, 32)
      FROM json_each(?2) WHERE true
      ON CONFLICT (position) DO UPDATE SET
        part = excluded.part, commitment = excluded.commitment`,
    args: [commitments, rows],
  }, {
    sql: `UPDATE events SET body = NULL, digest = NULL, salt = NULL,
        event_id = w.value ->> 2, user_id = w.value ->> 3,
        click_id = w.value ->> 4, order_id = w.value ->> 5
      FROM json_each(?1) AS w WHERE events.position = w.value ->> 0`,
    args: [rows],
  }];
}

/** Stores a key, where there is none. */
export function insertOwnKey(key: Uint8Array): Statement {
  return {
    sql: `INSERT INTO erasure_keys (id, key) VALUES (1, ?)
      ON CONFLICT DO NOTHING`,
    args: [key],
  };
}

/** Selects all keys, our own first. */
export const selectKeys: Statement = {
  sql: "SELECT key FROM erasure_keys ORDER BY id",
  args: [],
};

/** Selects hidden names: rows of hash, kind, when erased, when returned. */
export function selectNames(hashes: readonly Uint8Array[]): Statement {
  const names = hashes.map(() => "?").join(", ");
  return {
    sql: `SELECT hash, kind, erased_at, returned_at FROM erased_names
      WHERE hash IN (${names})`,
    args: hashes,
  };
}

/** A hidden name. */
export interface HiddenName {
  /** Its keyed hash. */
  readonly hash: Uint8Array;
  /** What kind of name it is. */
  readonly kind: string;
  /** When it was erased, UTC ISO 8601. */
  readonly erasedAt: string;
}

/** Stores hidden names; one that came back is gone again. */
export function insertNames(names: readonly HiddenName[]): Statement[] {
  return names.map(({ hash, kind, erasedAt }) => ({
    sql: `INSERT INTO erased_names (hash, kind, erased_at) VALUES (?, ?, ?)
      ON CONFLICT (hash) DO UPDATE SET
        erased_at = max(erased_at, excluded.erased_at), returned_at = NULL`,
    args: [hash, kind, erasedAt],
  }));
}

/** An order whose names were erased. */
export interface ErasedOrder {
  /** The order. */
  readonly orderId: string;
  /** What stands for the user; null for none. */
  readonly userId: string | null;
  /** What stands for the click id; null for none. */
  readonly clickId: string | null;
  /** Whether it differed from what its session asked for. */
  readonly differs: boolean;
  /** When it was erased, UTC ISO 8601. */
  readonly erasedAt: string;
}

/** Stores erased orders, each once. */
export function insertErasedOrders(orders: readonly ErasedOrder[]): Statement {
  return {
    sql: `INSERT INTO erased_orders
        (order_id, user_id, click_id, differs, erased_at)
      SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
      FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(orders.map((order) => [
      order.orderId,
      order.userId,
      order.clickId,
      order.differs ? 1 : 0,
      order.erasedAt,
    ]))],
  };
}

/** Selects those of some orders that are erased. */
export function selectErasedOrders(orderIds: readonly string[]): Statement {
  return {
    sql: `SELECT order_id, user_id, click_id, differs, erased_at
      FROM erased_orders WHERE order_id IN (SELECT value FROM json_each(?))`,
    args: [JSON.stringify(orderIds)],
  };
}

/** Reads the answer of {@linkcode selectErasedOrders}, by order id. */
export function erasedOrders(
  result: ResultSet | undefined,
): Map<string, ErasedOrder> {
  return new Map(
    result?.rows.map((row) => {
      const orderId = String(row[0]);
      return [orderId, {
        orderId,
        userId: row[1] as string | null,
        clickId: row[2] as string | null,
        differs: row[3] === 1,
        erasedAt: String(row[4]),
      }];
    }),
  );
}

/** Marks users as customers again, unless they are already. */
export function markReturned(
  hashes: readonly Uint8Array[],
  at: string,
): Statement[] {
  return hashes.map((hash) => ({
    sql: `UPDATE erased_names SET returned_at = ?
      WHERE hash = ? AND returned_at IS NULL`,
    args: [at, hash],
  }));
}

/** Lists orders that erased users made later, each once. */
export function insertReturnedOrders(
  orderIds: readonly string[],
  at: string,
): Statement {
  return {
    sql: `INSERT INTO returned_orders (order_id, known_at)
      SELECT value, ?2 FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING`,
    args: [JSON.stringify(orderIds), at],
  };
}

/** Stores that somebody was erased. */
export function insertErasedPerson(
  person: {
    readonly pseudonym: string;
    readonly erasedAt: string;
    readonly events: number;
    readonly orders: number;
  },
): Statement {
  return {
    sql: `INSERT INTO erased_people (pseudonym, erased_at, events, orders)
      VALUES (?, ?, ?, ?)`,
    args: [person.pseudonym, person.erasedAt, person.events, person.orders],
  };
}

/** Selects all erasures, the oldest first. */
export const selectErasedPeople: Statement = {
  sql: `SELECT pseudonym, erased_at, events, orders FROM erased_people
    ORDER BY erased_at, pseudonym`,
  args: [],
};

/** Selects the orders that erased users made later. */
export const selectReturnedOrders: Statement = {
  sql: "SELECT order_id, known_at FROM returned_orders ORDER BY known_at",
  args: [],
};

/**
 * Counts an erasure. States that are being built beside the live ones begin
 * anew, and what was read before it can no longer be written.
 */
export const countErasure: readonly Statement[] = [
  { sql: "UPDATE projections SET erasures = erasures + 1", args: [] },
  { sql: "DELETE FROM projections WHERE name <> 'live'", args: [] },
  { sql: "UPDATE observation_version SET version = version + 1", args: [] },
];

/** What is deleted beside the events of a person. */
export interface Traces {
  /** Orders whose states are made anew. */
  readonly orderIds: readonly string[];
  /** Those of them that are the person's. */
  readonly ownOrders: readonly string[];
  /** Users whose states are made anew. */
  readonly userIds: readonly string[];
  /** Users of whom nothing may be left. */
  readonly erasedUsers: readonly string[];
  /** Sessions that are blanked. */
  readonly sessions: readonly number[];
}

/** Deletes states, links and what else follows from the events of a person. */
export function deleteTraces(traces: Traces): Statement[] {
  const orders = JSON.stringify(traces.orderIds);
  const own = JSON.stringify(traces.ownOrders);
  const users = JSON.stringify([...traces.userIds, ...traces.erasedUsers]);
  const gone = JSON.stringify(traces.erasedUsers);
  const sessions = JSON.stringify(traces.sessions);
  const given = (sql: string, args: SqlValue[]) => ({ sql, args });
  const inList = "IN (SELECT value FROM json_each(?1))";
  return [
    given(`DELETE FROM orders WHERE order_id ${inList}`, [orders]),
    given(`DELETE FROM order_links WHERE order_id ${inList}`, [orders]),
    given(`DELETE FROM users WHERE user_id ${inList}`, [users]),
    given(`DELETE FROM session_links WHERE position ${inList}`, [sessions]),
    given(
      `UPDATE queued_transitions SET error = NULL
        WHERE entity = 'order' AND entity_id ${inList}`,
      [own],
    ),
    given(
      `DELETE FROM isolated_ids WHERE entity = 'order' AND entity_id ${inList}`,
      [own],
    ),
    given(
      `UPDATE notes SET text = '' WHERE entity = 'order'
        AND entity_id ${inList}`,
      [own],
    ),
    ...[
      "transitions",
      "queued_transitions",
      "observations",
      "confirm_queue",
      "open_queue",
      "isolated_ids",
      "notes",
    ].map((table) =>
      given(
        `DELETE FROM ${table} WHERE entity = 'user' AND entity_id ${inList}`,
        [gone],
      )
    ),
  ];
}

/** Stores the digests of redacted readings: rows of order id and digest. */
export function updateObservedDigests(
  digests: readonly (readonly [orderId: string, digest: string])[],
): Statement {
  return {
    sql: `UPDATE observations SET digest = w.value ->> 1
      FROM json_each(?1) AS w WHERE entity = 'order' AND found = 1
        AND entity_id = w.value ->> 0`,
    args: [JSON.stringify(digests)],
  };
}

/** Columns of the tables, as an export has them. */
const exported = {
  erasure_keys: { columns: ["key"], blobs: ["key"] },
  erased_names: {
    columns: ["hash", "kind", "erased_at", "returned_at"],
    blobs: ["hash"],
  },
  erased_orders: {
    columns: ["order_id", "user_id", "click_id", "differs", "erased_at"],
    blobs: [],
  },
  erased_people: {
    columns: ["pseudonym", "erased_at", "events", "orders"],
    blobs: [],
  },
  returned_orders: { columns: ["order_id", "known_at"], blobs: [] },
} as const satisfies Record<
  string,
  { readonly columns: readonly string[]; readonly blobs: readonly string[] }
>;

/** A table about erasures that exports have. */
export type ErasureTable = keyof typeof exported;

/** All of them. */
export const ERASURE_TABLES: readonly ErasureTable[] = Object.keys(
  exported,
) as ErasureTable[];

/** Selects all rows of a table, as they are exported. */
export function selectErasureTable(table: ErasureTable): Statement {
  const { columns: [first, ...others] } = exported[table];
  const order = table === "erasure_keys" ? "id" : first;
  return {
    sql: `SELECT ${[first, ...others].join(", ")} FROM ${table}
      ORDER BY ${order}`,
    args: [],
  };
}

/** Stores a row that was exported, unless it is there. */
export function insertErasureRow(
  table: ErasureTable,
  row: readonly (string | number | null)[],
): Statement {
  const { columns, blobs } = exported[table];
  const values = columns.map((column) =>
    (blobs as readonly string[]).includes(column) ? "unhex(?)" : "?"
  );
  return {
    sql: `INSERT INTO ${table} (${columns.join(", ")})
      VALUES (${values.join(", ")}) ON CONFLICT DO NOTHING`,
    args: columns.map((_, at) => row[at] ?? null),
  };
}

/** What came with an import has to be looked for from now on. */
export const noteImportedErasures: readonly Statement[] = [
  { sql: "UPDATE projections SET erasures = erasures + 1", args: [] },
];

/** Kinds of event whose bodies are pruned; the others say nothing personal. */
const PRUNED = "('webhook', 'order_snapshot', 'user_snapshot', " +
  "'session_created')";

const prunable = `body IS NOT NULL AND recorded_at < ?1 AND kind IN ${PRUNED}`;

/** What is pruned together, by an index that leads to it. */
export type PruneStep = "orders" | "users" | "others";

/** Selects the next orders, users or positions that have bodies to prune. */
export function selectPrunable(
  step: PruneStep,
  page: {
    readonly before: string;
    readonly after: string | number;
    readonly limit: number;
  },
): Statement {
  const args = [page.before, page.after, page.limit];
  switch (step) {
    case "orders":
      return {
        sql: `SELECT DISTINCT order_id FROM events
          WHERE order_id > ?2 AND ${prunable} ORDER BY order_id LIMIT ?3`,
        args,
      };
    case "users":
      return {
        sql: `SELECT DISTINCT user_id FROM events WHERE user_id > ?2
          AND order_id IS NULL AND ${prunable} ORDER BY user_id LIMIT ?3`,
        args,
      };
    case "others":
      return {
        sql: `SELECT position FROM events WHERE position > ?2
          AND order_id IS NULL AND user_id IS NULL AND ${prunable}
          ORDER BY position LIMIT ?3`,
        args,
      };
  }
}

/** Selects how many bodies are older than a time. */
export function countPrunable(before: string): Statement {
  return {
    sql: `SELECT count(*) FROM events WHERE ${prunable}`,
    args: [before],
  };
}

/** Deletes links to orders, in the states that readers see. */
export function deleteLinks(
  links: readonly (readonly [kind: string, link: string, orderId: string])[],
): Statement {
  return {
    sql: `DELETE FROM order_links WHERE (generation, kind, link, began_by,
        order_id) IN (SELECT l.generation, l.kind, l.link, l.began_by,
          l.order_id FROM json_each(?1) AS w CROSS JOIN order_links AS l
          ON l.generation =
            (SELECT generation FROM projections WHERE name = 'live')
          AND l.kind = w.value ->> 0 AND l.link = w.value ->> 1
          AND l.order_id = w.value ->> 2)`,
    args: [JSON.stringify(links)],
  };
}

/** Deletes states that are made anew, and links to sessions that are blanked. */
export function deleteStates(
  states: Pick<Traces, "orderIds" | "userIds" | "sessions">,
): Statement[] {
  const inList = "IN (SELECT value FROM json_each(?1))";
  return [
    {
      sql: `DELETE FROM orders WHERE (generation, order_id) IN
        (SELECT p.generation, w.value FROM projections AS p, json_each(?1) AS w)`,
      args: [JSON.stringify(states.orderIds)],
    },
    {
      sql: `DELETE FROM users WHERE (generation, user_id) IN
        (SELECT p.generation, w.value FROM projections AS p, json_each(?1) AS w)`,
      args: [JSON.stringify(states.userIds)],
    },
    {
      sql: `DELETE FROM session_links WHERE position ${inList}`,
      args: [JSON.stringify(states.sessions)],
    },
  ];
}
