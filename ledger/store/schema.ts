/**
 * Every table of a ledger, on one page.
 *
 * `no` names an order or a user: twice the position of the first event that names
 * it, and one more for a user. It survives refold and erasure.
 *
 * @module
 */
/** A ledger of another schema is refused, and nothing is written to it. */
export const SCHEMA_VERSION = 3;

/** How soon the service is asked of an order or user, what was told, and the fold. */
const ASKED_AND_TOLD = `urgency INTEGER NOT NULL DEFAULT 0,
      claimed_by INTEGER NOT NULL DEFAULT 0,
      wanted_at INTEGER,
      named_at INTEGER,
      due_at INTEGER,
      told TEXT NOT NULL,
      fold TEXT NOT NULL`;

/**
 * What readers and the poller know of orders: what lists filter by in columns, the
 * fold as a document, and beside it what was told, which a refold keeps.
 */
export function orderTable(name: string, tag = ""): string[] {
  return [
    `CREATE TABLE ${name} (
      no INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      began INTEGER,
      status TEXT NOT NULL,
      trust TEXT NOT NULL,
      open INTEGER NOT NULL,
      release TEXT NOT NULL,
      reason TEXT NOT NULL,
      outcome TEXT NOT NULL,
      attention TEXT,
      anomalies TEXT,
      waiting_since INTEGER,
      user_hash INTEGER,
      asset TEXT,
      network TEXT,
      currency TEXT,
      amount INTEGER,
      historic INTEGER NOT NULL,
      shown INTEGER NOT NULL,
      ${ASKED_AND_TOLD}
    ) STRICT`,
    `CREATE INDEX orders_at${tag}
      ON ${name}(at, no, status, trust, currency, amount)`,
    `CREATE INDEX orders_status${tag} ON ${name}(status, at)`,
    `CREATE INDEX orders_release${tag} ON ${name}(release, at)`,
    `CREATE INDEX orders_user${tag} ON ${name}(user_hash, at)
      WHERE user_hash IS NOT NULL`,
    `CREATE INDEX orders_attention${tag} ON ${name}(at)
      WHERE attention IS NOT NULL AND attention <> ' not_comparable '`,
    `CREATE INDEX orders_anomalies${tag} ON ${name}(at)
      WHERE anomalies IS NOT NULL`,
    `CREATE INDEX orders_waiting${tag} ON ${name}(waiting_since)
      WHERE waiting_since IS NOT NULL`,
    // When to ask the service: of what a webhook named, and of what may change.
    `CREATE INDEX orders_named${tag} ON ${name}(shown, urgency, named_at)
      WHERE named_at IS NOT NULL`,
    `CREATE INDEX orders_due${tag} ON ${name}(shown, due_at, open)
      WHERE due_at IS NOT NULL`,
  ];
}

export function userTable(name: string, tag = ""): string[] {
  return [
    `CREATE TABLE ${name} (
      no INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      status TEXT NOT NULL,
      trust TEXT NOT NULL,
      historic INTEGER NOT NULL,
      shown INTEGER NOT NULL,
      ${ASKED_AND_TOLD}
    ) STRICT`,
    `CREATE INDEX users_at${tag} ON ${name}(at)`,
    `CREATE INDEX users_named${tag} ON ${name}(shown, urgency, named_at)
      WHERE named_at IS NOT NULL`,
  ];
}

/** Kinds of which a ledger has many; an index holds the others. */
const MANY = [
  "webhook",
  "order_snapshot",
  "user_snapshot",
  "order_absent",
  "order_contradicted",
  "session_created",
  "order_expected",
  "chain_reading",
].map((kind) => `'${kind}'`).join(", ");

/** Say it in a query for rare kinds, so that the index serves it. */
export const IS_RARE = `kind NOT IN (${MANY})`;

export function schemaFor(environment: string): string[] {
  const literal = `'${environment.replaceAll("'", "''")}'`;
  return [
    // One row, which every batch that folds moves: so no two of them overlap.
    `CREATE TABLE ledger (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      schema INTEGER NOT NULL,
      id TEXT NOT NULL,
      environment TEXT NOT NULL CHECK (environment = ${literal}),
      key BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      live_from INTEGER,
      fold_version INTEGER NOT NULL,
      position INTEGER NOT NULL,
      turn INTEGER NOT NULL,
      erasures INTEGER NOT NULL,
      counts TEXT NOT NULL
    ) STRICT`,

    // Times are ms where that loses nothing, else the text as it was written.
    `CREATE TABLE events (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      recorded_at ANY NOT NULL,
      read_at ANY,
      body BLOB NOT NULL,
      salt BLOB NOT NULL
    ) STRICT`,
    `CREATE INDEX events_rare ON events(kind, position) WHERE ${IS_RARE}`,
    `CREATE INDEX events_received ON events(recorded_at)
      WHERE kind = 'webhook'`,
    // Which events name an order or a user; written by the batch that folds them.
    // Under 0 are deliveries without a type that is text.
    `CREATE TABLE mentions (
      no INTEGER NOT NULL,
      position INTEGER NOT NULL,
      PRIMARY KEY (no, position)
    ) STRICT, WITHOUT ROWID`,
    // A root for each batch, and the first bytes of the leaf of each event.
    `CREATE TABLE seals (
      last_position INTEGER PRIMARY KEY,
      events INTEGER NOT NULL,
      root BLOB NOT NULL,
      leaves BLOB NOT NULL
    ) STRICT`,

    ...orderTable("orders"),
    ...userTable("users"),
    // Keyed hashes of 52 bits of what leads to an order; hits are checked there.
    // shown: the service has shown it, and not only a webhook named it.
    // In runs by place: in one tree, texts of strangers would touch a page each.
    `CREATE TABLE lookup_runs (
      first_no INTEGER PRIMARY KEY,
      run INTEGER NOT NULL,
      size INTEGER NOT NULL
    ) STRICT`,
    `CREATE TABLE lookup_rows (
      run INTEGER NOT NULL,
      hash INTEGER NOT NULL,
      no INTEGER NOT NULL,
      shown INTEGER NOT NULL,
      PRIMARY KEY (run, hash, no)
    ) STRICT, WITHOUT ROWID`,
    `CREATE VIEW lookup AS SELECT k.hash, k.no, k.shown FROM lookup_runs AS g
      CROSS JOIN lookup_rows AS k ON k.run = g.run`,
    // What the partner asked for, by the same hashes of click id, reference, session.
    `CREATE TABLE expected (
      position INTEGER PRIMARY KEY,
      click INTEGER,
      reference INTEGER,
      session INTEGER,
      asked_at INTEGER NOT NULL,
      valid_until INTEGER NOT NULL
    ) STRICT`,
    `CREATE INDEX expected_click ON expected(click, valid_until, asked_at)
      WHERE click IS NOT NULL`,
    `CREATE INDEX expected_reference ON expected(reference, asked_at)
      WHERE reference IS NOT NULL`,
    `CREATE INDEX expected_session ON expected(session)
      WHERE session IS NOT NULL`,

    // The transitions that were told: never rewritten.
    `CREATE TABLE log (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      no INTEGER NOT NULL,
      code TEXT NOT NULL,
      entry INTEGER NOT NULL,
      position INTEGER NOT NULL,
      flags INTEGER NOT NULL,
      more TEXT,
      UNIQUE (no, code, entry)
    ) STRICT`,
    `CREATE INDEX log_flagged ON log(seq) WHERE flags > 1`,
    // One order takes a purchase by itself (held 1); a person delivers it with
    // others (2, the last of since holds it); others wait for it (0).
    `CREATE TABLE purchases (
      name BLOB NOT NULL,
      no INTEGER NOT NULL,
      held INTEGER NOT NULL,
      since INTEGER NOT NULL,
      PRIMARY KEY (name, no, held)
    ) STRICT, WITHOUT ROWID`,
    `CREATE UNIQUE INDEX purchases_held ON purchases(name) WHERE held = 1`,
    `CREATE INDEX purchases_no ON purchases(no)`,

    `CREATE TABLE subscriptions (
      name TEXT PRIMARY KEY,
      patterns TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      historic_seq INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE targets (
      name TEXT PRIMARY KEY,
      url TEXT NOT NULL,
      off_at TEXT,
      off_reason TEXT
    ) STRICT, WITHOUT ROWID`,
    // What a subscription has still to be told, oldest first of each entity: due,
    // waiting for an earlier one, dead, passed (dead, and a later one was told) or
    // late (passed, and told again). Due at 0: it was never tried.
    `CREATE TABLE outbox (
      name TEXT NOT NULL,
      seq INTEGER NOT NULL,
      no INTEGER NOT NULL,
      state TEXT NOT NULL,
      due_at INTEGER,
      attempts INTEGER NOT NULL,
      error TEXT,
      PRIMARY KEY (name, seq)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX outbox_entity ON outbox(name, no, seq)`,
    `CREATE INDEX outbox_due ON outbox(name, state, due_at)`,
    // What became of an order's yes at a subscription: begun, taken, parked before
    // the handler was called with it, or stopped after.
    `CREATE TABLE handed (
      no INTEGER NOT NULL,
      name TEXT NOT NULL,
      seq INTEGER NOT NULL,
      state TEXT NOT NULL,
      PRIMARY KEY (no, name)
    ) STRICT, WITHOUT ROWID`,

    // process: who holds it, where others on that machine can see whether it lives.
    `CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      fence INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      lease_ms INTEGER NOT NULL,
      process TEXT
    ) STRICT, WITHOUT ROWID`,
    // How far something got: a sweep, an import, a refold.
    `CREATE TABLE cursors (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID`,
    // Ids that are asked for alone, and why.
    `CREATE TABLE set_aside (
      entity TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      why TEXT NOT NULL,
      since TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      again_at INTEGER NOT NULL,
      PRIMARY KEY (entity, id)
    ) STRICT, WITHOUT ROWID`,
    // What the service said last of an order or user; digest says whether the next
    // reading is new. While one rests no webhook makes the poller ask again.
    `CREATE TABLE observations (
      entity TEXT NOT NULL,
      id TEXT NOT NULL,
      asked_at TEXT NOT NULL,
      read_at TEXT NOT NULL,
      digest TEXT NOT NULL,
      found INTEGER NOT NULL,
      status TEXT,
      rest_ms INTEGER NOT NULL DEFAULT 0,
      rests_until INTEGER,
      PRIMARY KEY (entity, id)
    ) STRICT, WITHOUT ROWID`,
    // Changes that readings showed, for the watchdog: was each announced?
    `CREATE TABLE observed (
      order_id TEXT NOT NULL,
      status TEXT NOT NULL,
      moved_at TEXT NOT NULL,
      seen_at TEXT NOT NULL,
      PRIMARY KEY (order_id, status)
    ) STRICT, WITHOUT ROWID`,
    `CREATE INDEX observed_moved ON observed(moved_at)`,
    `CREATE TABLE unanswered (event_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`,

    // What waits in inboxes beside the ledger, as their processes last said.
    `CREATE TABLE waiting (
      place TEXT NOT NULL,
      process TEXT NOT NULL,
      deliveries INTEGER NOT NULL,
      oldest_at INTEGER NOT NULL,
      written_at INTEGER NOT NULL,
      PRIMARY KEY (place, process)
    ) STRICT, WITHOUT ROWID`,

    // Random names of people who were erased, by a keyed hash of what they had.
    `CREATE TABLE aliases (
      hash BLOB PRIMARY KEY,
      kind TEXT NOT NULL,
      alias TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
  ];
}
