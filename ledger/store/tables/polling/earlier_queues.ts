import { msSql } from "../stored_times.ts";

/** The two queues that version 1 of the schema had. */
export const earlierQueuesSchema: readonly string[] = [
  ...queueTable("confirm_queue"),
  ...queueTable("open_queue"),
];

function queueTable(name: string): readonly string[] {
  return [
    `CREATE TABLE ${name} (
      seq INTEGER PRIMARY KEY,
      entity TEXT NOT NULL,
      entity_id TEXT NOT NULL,
      known INTEGER NOT NULL,
      ready INTEGER NOT NULL,
      wanted_at TEXT NOT NULL,
      due_at TEXT NOT NULL,
      final_at TEXT,
      UNIQUE (entity, entity_id)
    ) STRICT`,
    `CREATE INDEX ${name}_by_due ON ${name}(entity, known, ready, due_at)`,
    `CREATE INDEX ${name}_to_draw ON ${name}(entity, seq)
      WHERE known = 0 AND ready = 1`,
    `CREATE INDEX ${name}_by_want ON ${name}(entity, known, wanted_at)`,
  ];
}

function moved(queue: number, table: string): readonly string[] {
  return [
    `INSERT INTO requests (queue, entity, entity_id, known, ready, wanted_at,
        due_at, final_at)
      SELECT ${queue}, entity, entity_id, known, ready, ${msSql("wanted_at")},
        ${msSql("due_at")}, ${msSql("final_at")}
      FROM ${table} ORDER BY seq`,
    `DROP TABLE ${table}`,
  ];
}

/** Moves what waits in them into the one table, with times that are numbers. */
export const moveEarlierQueues: readonly string[] = [
  ...moved(0, "confirm_queue"),
  ...moved(1, "open_queue"),
  "ALTER TABLE observations ADD COLUMN rests_until INTEGER",
  `UPDATE observations SET rests_until = ${msSql("rest_until")}
    WHERE rest_until IS NOT NULL`,
  "ALTER TABLE observations DROP COLUMN rest_until",
];
