/**
 * Tables as version 1 of the schema made them, where a later version makes them
 * anew; without their indexes. What a published version makes never changes.
 */

/** Orders and users, whose indexes repeated their ids. */
export const statesSchema1: readonly string[] = [
  `CREATE TABLE orders (
    generation INTEGER NOT NULL,
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    open INTEGER NOT NULL,
    user_id TEXT,
    commodity TEXT,
    sort_at TEXT NOT NULL,
    anomalies TEXT,
    attention TEXT,
    release TEXT NOT NULL,
    release_reason TEXT NOT NULL,
    tx_id TEXT,
    address TEXT,
    reference TEXT,
    session_id TEXT,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, order_id)
  ) STRICT`,
  `CREATE TABLE users (
    generation INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    sort_at TEXT NOT NULL,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, user_id)
  ) STRICT`,
];

/** Columns of orders and users that versions 1 to 8 have. */
export const STATE_COLUMNS_OF_FORMER = {
  orders: [
    ...["order_id", "status", "trust", "open", "user_id", "commodity"],
    ...["sort_at", "anomalies", "attention", "release", "release_reason"],
    ...["tx_id", "address", "reference", "session_id", "case_state"],
    ...["state", "activity", "fold"],
  ],
  users: [
    ...["user_id", "status", "trust", "sort_at", "state", "activity", "fold"],
  ],
} as const;

/** Orders of versions 4 to 8, without what the versions 7 and 8 added. */
export const ordersSchema4: readonly string[] = [
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
    sort_at TEXT NOT NULL,
    anomalies TEXT,
    attention TEXT,
    release TEXT NOT NULL,
    release_reason TEXT NOT NULL,
    tx_id TEXT,
    address TEXT,
    reference TEXT,
    session_id TEXT,
    case_state TEXT,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, order_id)
  ) STRICT`,
  `CREATE INDEX orders_by_time ON orders(generation, sort_at, place)`,
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
  `CREATE INDEX orders_with_attention
    ON orders(generation, sort_at, place, attention, order_id)
    WHERE attention IS NOT NULL`,
  `CREATE INDEX orders_by_release
    ON orders(generation, release, sort_at, place, release_reason)`,
  `CREATE INDEX orders_with_case
    ON orders(generation, case_state, sort_at, place)
    WHERE case_state IS NOT NULL`,
  ...["tx_id", "address", "reference", "session_id"].map((column) =>
    `CREATE INDEX orders_by_${column}
      ON orders(generation, ${column} COLLATE NOCASE)
      WHERE ${column} IS NOT NULL`
  ),
];

/** Users of versions 4 to 8. */
export const usersSchema4: readonly string[] = [
  `CREATE TABLE users (
    generation INTEGER NOT NULL,
    place INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    status TEXT NOT NULL,
    trust TEXT NOT NULL,
    sort_at TEXT NOT NULL,
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, user_id)
  ) STRICT`,
  `CREATE INDEX users_by_time ON users(generation, sort_at, place)`,
  `CREATE INDEX users_by_status
    ON users(generation, status, sort_at, place)`,
];

const amountJson = "(state ->> '$.currencyAmount')";
const wholeSql =
  `substr(${amountJson}, 1, instr(${amountJson} || '.', '.') - 1)`;
const fractionSql =
  `rtrim(substr(${amountJson}, instr(${amountJson} || '.', '.') + 1), '0')`;

/**
 * Version 7 worked out of the state what lists of orders choose and add up by, in
 * columns that took no room of a row.
 */
export const listedOrdersSchema7: readonly string[] = [
  ...["outcome", "network", "currency"].map((column) =>
    `ALTER TABLE orders ADD COLUMN ${column} TEXT
      GENERATED ALWAYS AS (state ->> '$.${column}') VIRTUAL`
  ),
  `ALTER TABLE orders ADD COLUMN amount INTEGER GENERATED ALWAYS AS (
    CASE WHEN ${amountJson} GLOB '[0-9]*'
      AND ${amountJson} NOT GLOB '*[^0-9.]*'
      AND ${amountJson} NOT GLOB '*.*.*'
      AND length(${wholeSql}) <= 9 AND length(${fractionSql}) <= 6
    THEN CAST(${wholeSql} AS INTEGER) * 1000000 + CAST(
      substr(${fractionSql} || '000000', 1, 6)
      AS INTEGER) END) VIRTUAL`,
  `DROP INDEX orders_by_time`,
  `CREATE INDEX orders_by_time ON orders(generation, sort_at, place, status,
    trust, release, outcome, commodity, network, currency, amount)`,
];

/** Version 8 sorted orders by amount. */
export const amountOrderSchema8: readonly string[] = [
  `ALTER TABLE orders ADD COLUMN sort_amount INTEGER
    GENERATED ALWAYS AS (coalesce(amount, -1)) VIRTUAL`,
  `CREATE INDEX orders_by_amount ON orders(generation, sort_amount, sort_at,
    place, status, trust, release, outcome, commodity, network, currency)`,
];

/** Version 8 parted the orders that wait for a record and for nothing else. */
export const attentionSchema8: readonly string[] = [
  `DROP INDEX orders_with_attention`,
  `CREATE INDEX orders_with_attention
    ON orders(generation, sort_at, place, attention, order_id)
    WHERE attention IS NOT NULL AND attention <> ' not_comparable '`,
  `CREATE INDEX orders_not_comparable ON orders(generation, sort_at, place)
    WHERE attention = ' not_comparable '`,
];

/** Links, whose index repeated them; they named orders by their ids. */
export const linksSchema1: readonly string[] = [
  `CREATE TABLE order_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    began_by TEXT NOT NULL,
    order_id TEXT NOT NULL,
    confirmed INTEGER NOT NULL,
    PRIMARY KEY (generation, kind, link, began_by, order_id)
  ) STRICT, WITHOUT ROWID`,
];

/** What waits to be asked for, whose index repeated the ids. */
export const requestsSchema2: readonly string[] = [
  `CREATE TABLE requests (
    seq INTEGER PRIMARY KEY,
    queue INTEGER NOT NULL,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    urgency INTEGER NOT NULL DEFAULT 0,
    claimed_by INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL,
    ready INTEGER NOT NULL,
    wanted_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    final_at INTEGER,
    UNIQUE (entity_id, entity, queue)
  ) STRICT`,
  `CREATE INDEX requests_by_due
    ON requests(queue, entity, known, ready, urgency, due_at)`,
  `CREATE INDEX requests_to_draw ON requests(queue, entity, urgency, seq)
    WHERE known = 0 AND ready = 1`,
];

/** Version 3 added how the case of an order stands. */
export const orderCasesSchema: readonly string[] = [
  "ALTER TABLE orders ADD COLUMN case_state TEXT",
];

/**
 * The statements that make a table anew and fill it from the one that it
 * replaces.
 *
 * @param name The table.
 * @param schema What makes the table, then its indexes.
 * @param columns Columns that both have.
 * @param made SQL of columns that only the new one has; `f` is a former row.
 */
export function madeAnew(
  name: string,
  [table = "", ...indexes]: readonly string[],
  columns: readonly string[],
  made: Readonly<Record<string, string>>,
): string[] {
  return [
    `ALTER TABLE ${name} RENAME TO former_${name}`,
    table,
    `INSERT INTO ${name} (${[...columns, ...Object.keys(made)].join(", ")})
      SELECT ${[...columns, ...Object.values(made)].join(", ")}
      FROM former_${name} AS f ORDER BY f.rowid`,
    `DROP TABLE former_${name}`,
    ...indexes,
  ];
}

/**
 * Where a former row stands: at its first event; without one, behind all that
 * have one.
 */
export const placeOfFormer = (id: "order_id" | "user_id"): string =>
  `coalesce((SELECT min(e.position) FROM events AS e WHERE e.${id} = f.${id}),
    (SELECT max(position) FROM events) + f.rowid)`;

/**
 * The statements that make links anew, which named orders by their ids. Links
 * that differ in their case alone are numbered; {@linkcode capitalsOfLinks} tells
 * how they are written.
 *
 * @param schema What makes the table.
 */
export function linksMadeAnew(schema: readonly string[]): string[] {
  return [
    "ALTER TABLE order_links RENAME TO former_order_links",
    ...schema,
    `INSERT INTO order_links
        (generation, kind, link, confirmed, began_by, row, capitals)
      SELECT f.generation, f.kind, f.link, f.confirmed, f.began_by, o.row,
        CASE row_number() OVER (PARTITION BY f.generation, f.kind,
            f.link COLLATE NOCASE, f.confirmed, f.began_by, o.row)
          WHEN 1 THEN '' ELSE '-' || row_number() OVER (PARTITION BY
            f.generation, f.kind, f.link COLLATE NOCASE, f.confirmed,
            f.began_by, o.row) END
      FROM former_order_links AS f CROSS JOIN orders AS o
        ON o.generation = f.generation AND o.order_id = f.order_id`,
    "DROP TABLE former_order_links",
  ];
}

/** Digits of base 32, as `capitalsOf` writes them. */
const DIGITS = "0123456789abcdefghijklmnopqrstuv";

/**
 * SQL of what `capitalsOf` tells of a column: it goes through the characters of
 * the text with the places that they have in JavaScript, where some take two.
 */
function capitalsSql(column: string): string {
  const next = "unit + 1 + (code > 65535)";
  const isNextDigit = `(${next}) / 5 > unit / 5`;
  const sum = "(value | iif(code BETWEEN 65 AND 90, 1 << (unit % 5), 0))";
  const digit = (value: string) => `substr('${DIGITS}', 1 + ${value}, 1)`;
  return `(WITH RECURSIVE walk (at, code, unit, value, digits) AS (
      SELECT 1, unicode(${column}), 0, 0, ''
      UNION ALL
      SELECT at + 1, unicode(substr(${column}, at + 1)), ${next},
        iif(${isNextDigit}, 0, ${sum}),
        iif(${isNextDigit}, digits || ${digit(sum)}, digits)
      FROM walk WHERE code IS NOT NULL
    )
    SELECT rtrim(digits || ${digit("value")}, '0')
    FROM walk ORDER BY at DESC LIMIT 1)`;
}

/**
 * Version 8 tells of links of before version 5 how they are written, as links
 * that were folded since do, and merges those that were stored again since.
 */
export const capitalsOfLinks: readonly string[] = [
  // Under a mark first: what one of two links is to have, the other may have yet.
  `UPDATE order_links SET capitals = '=' || ${capitalsSql("order_links.link")}
    WHERE capitals LIKE '-%' OR (capitals = '' AND link GLOB '*[A-Z]*')`,
  `UPDATE OR REPLACE order_links SET capitals = substr(capitals, 2)
    WHERE capitals LIKE '=%'`,
  `DELETE FROM order_links
    WHERE (generation, kind, link, confirmed, began_by, row, capitals) IN (
      SELECT l.generation, l.kind, l.link, 0, l.began_by, l.row, l.capitals
      FROM order_links AS c CROSS JOIN order_links AS l
        ON l.generation = c.generation AND l.kind = c.kind
          AND l.link = c.link COLLATE NOCASE AND l.confirmed = 0
          AND l.began_by IN ('', c.began_by)
          AND l.row = c.row AND l.capitals = c.capitals
      WHERE c.confirmed = 1)`,
];
