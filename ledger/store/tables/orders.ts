import { Columns, flag, plain } from "./columns.ts";
import { timeMs } from "./stored_times.ts";
import type { Statement } from "../driver/driver.ts";
import {
  excludedTexts,
  type PackedRow,
  PackedRows,
  STATE_TEXTS,
} from "./packed_rows.ts";

/** Characters of a transaction or an address that its index has. */
const BEGINNING = 18;

/**
 * One row per order and generation. `fold` is private to the fold version that
 * wrote it. `state` and `activity` are what readers see, and any version reads
 * them; what columns say, `state` does not say again, so that a page of the file
 * holds two rows or three.
 *
 * `place` is the position of the first event that names the order: it says where
 * an order stands among those of one time. It ends every index, so that none but
 * one repeats ids. `row` is made of it, so that an order has the same key
 * whenever its row is made anew, and other tables can name the order by it.
 *
 * `reference` and `session_id` are those that the partner recorded under the
 * click id which the service shows: no webhook puts anything there.
 *
 * What a webhook claims is open, so claimed orders are a part of `orders_open`.
 * `orders_with_attention` holds the kind of attention too, so that orders of
 * one kind are found without reading the others; likewise `orders_by_release`
 * the reason of the release. Both columns are those of the stored state, which
 * knows no other order.
 *
 * `amount` is in millionths of the currency, and worked out without a binary
 * fraction. It is null where it is no plain amount, where it has more decimals,
 * or where it is too large; where orders are sorted by it, such a one counts as
 * less than nothing. The indexes by time and by amount tell without any row which
 * orders of a list there are, and their sum.
 */
export const ordersSchema: readonly string[] = [
  `CREATE TABLE orders (
    row INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    open INTEGER NOT NULL,
    user_id TEXT,
    commodity TEXT,
    network TEXT,
    currency TEXT,
    amount INTEGER,
    sort_at INTEGER NOT NULL,
    anomalies TEXT,
    attention TEXT,
    release TEXT NOT NULL,
    release_reason TEXT NOT NULL,
    outcome TEXT,
    tx_id TEXT,
    address TEXT,
    reference TEXT,
    session_id TEXT,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    sort_amount INTEGER GENERATED ALWAYS AS (coalesce(amount, -1)) VIRTUAL,
    UNIQUE (generation, order_id)
  ) STRICT`,
  `CREATE INDEX orders_by_time ON orders(generation, sort_at, place, status,
    trust, release, outcome, commodity, network, currency, amount)`,
  `CREATE INDEX orders_by_amount ON orders(generation, sort_amount, sort_at,
    place, status, trust, release, outcome, commodity, network, currency)`,
  `CREATE INDEX orders_by_status ON orders(generation, status, sort_at, place)`,
  `CREATE INDEX orders_by_user ON orders(generation, user_id, sort_at, place)
    WHERE user_id IS NOT NULL`,
  `CREATE INDEX orders_by_commodity
    ON orders(generation, commodity, sort_at, place)
    WHERE commodity IS NOT NULL`,
  `CREATE INDEX orders_open ON orders(generation, trust, sort_at, place)
    WHERE open = 1`,
  `CREATE INDEX orders_with_anomaly ON orders(generation, sort_at, place)
    WHERE anomalies IS NOT NULL`,
  // Where a partner records nothing, nearly every order waits for a record to be
  // compared with and for nothing else: the index of the others leaves them out.
  `CREATE INDEX orders_with_attention
    ON orders(generation, sort_at, place, attention, order_id)
    WHERE attention IS NOT NULL AND attention <> ' not_comparable '`,
  `CREATE INDEX orders_not_comparable ON orders(generation, sort_at, place)
    WHERE attention = ' not_comparable '`,
  `CREATE INDEX orders_by_release
    ON orders(generation, release, sort_at, place, release_reason)`,
  ...["reference", "session_id"].map((column) =>
    `CREATE INDEX orders_by_${column}
      ON orders(generation, ${column} COLLATE NOCASE)
      WHERE ${column} IS NOT NULL`
  ),
  ...["tx_id", "address"].map((column) =>
    `CREATE INDEX orders_by_${column}
      ON orders(generation, ${beginningSql(column)} COLLATE NOCASE)
      WHERE ${column} IS NOT NULL`
  ),
];

/**
 * SQL for the beginning of a transaction or an address, by which its index has
 * it. It tells nearly all of them apart in a third of their bytes.
 *
 * @param column The whole text.
 */
export function beginningSql(column: string): string {
  return `substr(${column}, 1, ${BEGINNING})`;
}

/** The same of a text that is looked for. */
export function beginningOf(text: string): string {
  return Array.from(text).slice(0, BEGINNING).join("");
}

/** The unit in which sums are added: the smallest of any currency and more. */
const MILLIONTHS = 6;

/** Digits before the point, at most: a number of JavaScript holds them all. */
const MOST_DIGITS = 9;

/**
 * An amount as the column `amount` has it.
 *
 * @param decimal A decimal; null of none.
 * @returns Null where it is no plain decimal, negative, has more decimals, or is
 * too large.
 */
export function amountColumn(decimal: string | null): number | null {
  const [, whole = "", fraction = ""] = /^(\d+)(?:\.(\d*))?$/.exec(
    decimal ?? "",
  ) ?? [];
  const units = fraction.replace(/0+$/, "");
  if (whole === "" || whole.length > MOST_DIGITS) return null;
  if (units.length > MILLIONTHS) return null;
  return Number(whole + units.padEnd(MILLIONTHS, "0"));
}

/**
 * A sum of the column `amount` as a plain decimal.
 *
 * @param whole Whole units of the currency.
 * @param millionths Further millionths of it.
 */
export function amountOfColumn(whole: number, millionths: number): string {
  const unit = 10n ** BigInt(MILLIONTHS);
  const all = BigInt(whole) * unit + BigInt(millionths);
  const fraction = String(all % unit).padStart(MILLIONTHS, "0")
    .replace(/0+$/, "");
  return `${all / unit}${fraction === "" ? "" : `.${fraction}`}`;
}

/** SQL of the sum of `amount`: whole units, and further millionths. */
export const amountSumSql: string = `sum(amount / ${10 ** MILLIONTHS}),
  sum(amount % ${10 ** MILLIONTHS})`;

/** What the short columns of an order say. */
export interface OrderColumns {
  /** Position of the first event that names it. */
  readonly place: number;
  readonly orderId: string;
  readonly status: string;
  readonly trust: string;
  /** Whether the service should go on being asked about it. */
  readonly open: boolean;
  readonly userId: string | null;
  readonly commodity: string | null;
  readonly network: string | null;
  readonly currency: string | null;
  /** See {@linkcode amountColumn}. */
  readonly amount: number | null;
  /** What orders are sorted by, UTC ISO 8601 with milliseconds. */
  readonly sortAt: string;
  /** Kinds between spaces, so that one is found by ` kind `. */
  readonly anomalies: string | null;
  /** Likewise. */
  readonly attention: string | null;
  readonly release: string;
  readonly releaseReason: string;
  readonly outcome: string;
  readonly txId: string | null;
  readonly address: string | null;
  readonly reference: string | null;
  readonly sessionId: string | null;
}

/** The short columns of an order. */
export const ORDERS: Columns<OrderColumns> = new Columns({
  place: ["place", plain()],
  orderId: ["order_id", plain()],
  status: ["status", plain()],
  trust: ["trust", plain()],
  open: ["open", flag],
  userId: ["user_id", plain()],
  commodity: ["commodity", plain()],
  network: ["network", plain()],
  currency: ["currency", plain()],
  amount: ["amount", plain()],
  sortAt: ["sort_at", timeMs],
  anomalies: ["anomalies", plain()],
  attention: ["attention", plain()],
  release: ["release", plain()],
  releaseReason: ["release_reason", plain()],
  outcome: ["outcome", plain()],
  txId: ["tx_id", plain()],
  address: ["address", plain()],
  reference: ["reference", plain()],
  sessionId: ["session_id", plain()],
});

/** Columns that say a part of the state; the stored state leaves it out. */
export const STATE_COLUMNS = [
  "orderId",
  "status",
  "trust",
  "userId",
  "commodity",
  "network",
  "currency",
  "attention",
  "release",
  "releaseReason",
  "outcome",
  "txId",
  "address",
] as const satisfies readonly (keyof OrderColumns)[];

/**
 * SQL for the whole state of an order as one text: an array of
 * {@linkcode STATE_COLUMNS}, and the stored state.
 *
 * @param alias What the statement calls the table.
 */
export function orderStateSql(alias: string = "orders"): string {
  return `'[' || ${stateParts(alias)} || ']'`;
}

/**
 * SQL for what was folded of an order, with the state and the activity that it
 * stands beside.
 */
export function orderFoldSql(alias: string = "orders"): string {
  return `'[' || ${
    [stateParts(alias), `${alias}.activity`, `${alias}.fold`].join(
      " || ',' || ",
    )
  } || ']'`;
}

function stateParts(alias: string): string {
  return `json_array(${
    ORDERS.of(STATE_COLUMNS, alias).join(", ")
  }) || ',' || ${alias}.state`;
}

/** Counts open orders, where this version of the fold made them. */
export function countOpen(foldVersion: number): Statement {
  return {
    sql: `SELECT count(*) FROM orders AS o JOIN projections AS p
      ON p.name = 'live' AND p.generation = o.generation AND p.fold_version = ?1
      WHERE o.open = 1`,
    args: [foldVersion],
  };
}

/**
 * Selects what was folded of orders: rows of id and fold.
 *
 * @param generation Which set of states.
 * @param ids Which orders.
 */
export function selectOrderFolds(
  generation: number,
  ids: readonly string[],
): Statement {
  return {
    sql: `SELECT order_id, ${orderFoldSql()} FROM orders
      WHERE generation = ?1 AND order_id IN (SELECT value FROM json_each(?2))`,
    args: [generation, JSON.stringify(ids)],
  };
}

/** How long an order without a time of creation may have been heard of, ms. */
const HEARD_OF_MS = 30 * 86_400_000;

/**
 * Selects what was folded of successes that may have begun at a time or later:
 * rows of id and fold. Of one that the service states no creation of, the time
 * that it is sorted by is that of its first event, which may be earlier.
 *
 * @param generation Which set of states.
 * @param times The earliest of them counts, UTC ISO 8601.
 */
export function selectSuccessesSince(
  generation: number,
  times: readonly string[],
): Statement {
  const sinceMs = Math.min(...times.map((time) => Date.parse(time)));
  const of = (condition: string) =>
    `SELECT order_id, ${orderFoldSql()} FROM orders
      WHERE generation = ?1 AND status = 'success' AND ${condition}`;
  return {
    sql: `${of("sort_at >= ?2")}
      UNION ALL ${
      of("sort_at < ?2 AND sort_at >= ?3 AND state ->> '$.createdAt' IS NULL")
    }`,
    args: [generation, sinceMs, sinceMs - HEARD_OF_MS],
  };
}

/**
 * The key of a row: positions have room for a hundred years of ten thousand
 * events a second.
 *
 * @param generation SQL of the set of states.
 * @param place SQL of the place.
 */
export function orderKeySql(generation: string, place: string): string {
  return `${generation} * ${2 ** 45} + ${place}`;
}

/**
 * Stores orders in place of what was known of them.
 *
 * @param generation Which set of states.
 * @param rows The {@linkcode ORDERS} of each, then state, activity and fold.
 */
export function upsertOrders(
  generation: number,
  rows: readonly PackedRow[],
): Statement {
  return { sql: upsert, args: [...packed.pack(rows), generation] };
}

const packed = new PackedRows(
  ORDERS.count,
  STATE_TEXTS.length,
  ([
    ...["status", "trust", "open", "commodity", "network", "currency"],
    ...["anomalies", "attention", "release", "releaseReason", "outcome"],
  ] as const).map((field) => ORDERS.at[field]),
);

const upsert = `INSERT INTO orders (row, generation, ${ORDERS.list()},
    ${STATE_TEXTS.join(", ")})
  SELECT ${orderKeySql("?3", `(${packed.sql[ORDERS.at.place]})`)}, ?3,
    ${[...packed.sql, ...packed.texts].join(", ")}
  FROM ${packed.from} WHERE true
  ON CONFLICT (generation, order_id) DO UPDATE SET
    ${ORDERS.excluded(["place", "orderId"])}, ${excludedTexts}`;
