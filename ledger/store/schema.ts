/**
 * Tables of the store: the events and their evidence chain.
 *
 * Every index on `events` is paid for by each append, so those that most
 * events do not need are partial.
 */
export const storeSchema: readonly string[] = [
  `CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    event_id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    type TEXT,
    order_id TEXT,
    user_id TEXT,
    click_id TEXT,
    occurred_at TEXT,
    recorded_at TEXT NOT NULL,
    read_at TEXT,
    body BLOB,
    digest TEXT,
    salt BLOB
  ) STRICT`,
  `CREATE INDEX events_by_order ON events(order_id)
    WHERE order_id IS NOT NULL`,
  `CREATE INDEX events_by_user ON events(user_id)
    WHERE user_id IS NOT NULL`,
  // None by click id: read models have it, and ids in no order of time would
  // dirty a page of an index for each event.
  `CREATE INDEX events_by_kind ON events(kind)
    WHERE kind <> 'webhook'`,
  `CREATE INDEX events_quarantined ON events(recorded_at)
    WHERE kind = 'webhook' AND type IS NULL`,
  // Events of an order are few and found by it; the others need the digest.
  `CREATE INDEX events_by_digest ON events(substr(digest, 1, 16), recorded_at)
    WHERE kind = 'webhook' AND order_id IS NULL`,
  `CREATE TABLE chain (
    position INTEGER PRIMARY KEY,
    commitment BLOB NOT NULL,
    hash BLOB NOT NULL
  ) STRICT`,
  `CREATE TABLE chain_checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL,
    events INTEGER NOT NULL,
    hash TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE erasures (
    position INTEGER PRIMARY KEY,
    commitment BLOB NOT NULL
  ) STRICT`,
];
