/**
 * Tables of the poller.
 *
 * - `observations`: the latest reading of each order and user; `digest` decides
 *   whether the next reading is news, `found` is 0 where the service did not
 *   know it. Rebuilt from the events where a row is missing.
 * - `observation_version`: one counter that every batch of readings moves, so
 *   that two writers who compared with the same latest reading never both win.
 * - `sweeps`: progress of each sweep, as JSON, so that a restart goes on.
 * - `poll_lease`: who polls. `expires_at` is milliseconds of the database's
 *   own clock; `fence` grows with each holder and guards every batch.
 * - `order_moves`: changes of status that the service showed, on our clock,
 *   for the watchdog; kept for days, not for ever.
 */
export const pollerSchema: readonly string[] = [
  `CREATE TABLE observations (
    entity TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    asked_at TEXT NOT NULL,
    read_at TEXT NOT NULL,
    digest TEXT NOT NULL,
    found INTEGER NOT NULL,
    status TEXT,
    PRIMARY KEY (entity, entity_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE observation_version (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO observation_version (id, version) VALUES (1, 0)`,
  `CREATE TABLE sweeps (
    name TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE poll_lease (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE order_moves (
    order_id TEXT NOT NULL,
    status TEXT NOT NULL,
    moved_at TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (order_id, status)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX order_moves_by_time ON order_moves(moved_at)`,
];
