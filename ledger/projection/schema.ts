/**
 * Tables of the projection: what the events add up to.
 *
 * - `projections`: one row `live`, and a row `next` while the events are folded
 *   again beside it. Every batch that writes states first moves the position
 *   here, and violates NOT NULL when another process moved it before.
 * - `orders`, `users`: one row an entity and generation. `fold` is private to
 *   the fold version that wrote it; `state` and `activity` are what readers
 *   see, and can be read by any version.
 * - `order_links`: which sessions, click ids and external ids lead to an order;
 *   of click ids also when the order was there at the latest, so that a session
 *   finds the orders after it without meeting all that share its click id.
 * - `session_links`: which sessions of the partner a session or click id names.
 * - `transitions`: the first time each entity entered each status with each
 *   trust; shared by all generations, because a refold is no news.
 * - `confirm_queue`: entities that a fresh webhook named, for the poller.
 * - `unanswered_deliveries`: deliveries that were not answered in time.
 * - `imported`: ranges of positions that came from an export: history, not
 *   news.
 * - `subscriptions`, `letters`: how far each subscription is, and what could
 *   not be delivered.
 */
export const projectionSchema: readonly string[] = [
  `CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
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
    state TEXT NOT NULL,
    activity TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (generation, order_id)
  ) STRICT`,
  `CREATE INDEX orders_by_time ON orders(generation, sort_at, order_id)`,
  `CREATE INDEX orders_by_status
    ON orders(generation, status, sort_at, order_id)`,
  `CREATE INDEX orders_by_user ON orders(generation, user_id, sort_at, order_id)
    WHERE user_id IS NOT NULL`,
  `CREATE INDEX orders_by_commodity
    ON orders(generation, commodity, sort_at, order_id)
    WHERE commodity IS NOT NULL`,
  `CREATE INDEX orders_claimed ON orders(generation, sort_at, order_id)
    WHERE trust = 'claimed'`,
  `CREATE INDEX orders_open ON orders(generation, sort_at, order_id)
    WHERE open = 1`,
  `CREATE INDEX orders_open_by_id ON orders(generation, order_id)
    WHERE open = 1`,
  `CREATE INDEX orders_with_anomaly ON orders(generation, sort_at, order_id)
    WHERE anomalies IS NOT NULL`,
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
  `CREATE INDEX users_by_time ON users(generation, sort_at, user_id)`,
  `CREATE INDEX users_by_status ON users(generation, status, sort_at, user_id)`,
  `CREATE TABLE order_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    began_by TEXT NOT NULL,
    order_id TEXT NOT NULL,
    PRIMARY KEY (generation, kind, link, began_by, order_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE session_links (
    generation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    link TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (generation, kind, link, recorded_at, position)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE transitions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    live INTEGER NOT NULL,
    UNIQUE (entity, entity_id, trust, status)
  ) STRICT`,
  `CREATE TABLE confirm_queue (
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    wanted_at TEXT NOT NULL,
    PRIMARY KEY (entity, entity_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE unanswered_deliveries (
    event_id TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE imported (
    first_position INTEGER PRIMARY KEY,
    last_position INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX imported_by_end ON imported(last_position)`,
  `CREATE TABLE subscriptions (
    name TEXT PRIMARY KEY,
    patterns TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE letters (
    subscription TEXT NOT NULL,
    seq INTEGER NOT NULL,
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    trust TEXT NOT NULL,
    status TEXT NOT NULL,
    position INTEGER NOT NULL,
    recorded_at TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    due_at TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (subscription, seq)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX letters_by_entity ON letters(subscription, entity, entity_id)`,
];
