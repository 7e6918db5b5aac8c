/** Appends the events of an export. They are history: nobody is sent what they cause. */
import type { NewEvent } from "../events/event.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  insertAliasRow,
  keyRow,
  readErasedOrders,
  readKeys,
} from "../store/aliases.ts";
import { type Note, noteEvent } from "../recording/notes.ts";
import { statement, write } from "../store/database.ts";
import { appendStatement } from "../store/events.ts";
import { importedLine, type Line, takeLines } from "./lines.ts";

/** How many events were imported, and how many were there already. */
export interface Import {
  /** Events appended. */
  readonly imported: number;
  /** Events that were there already. */
  readonly skipped: number;
}

/** Events and bytes of one batch. */
const BATCH_EVENTS = 500;
const BATCH_BYTES = 4 << 20;

/**
 * Appends the events of an export: subscriptions do not get their transitions, and
 * the poller is not asked to confirm them. What came before a wrong line stays, and
 * importing it again is safe.
 */
export async function importEvents(
  driver: Driver,
  environment: string,
  lines: AsyncIterable<string>,
): Promise<Import> {
  const [key = new Uint8Array()] = await readKeys(driver);
  const own = keyRow(key)[2];
  let [imported, skipped, bytes, former] = [0, 0, 0, 0];
  let events: NewEvent[] = [];
  let notes: Note[] = [];
  let end: number | undefined;
  const flush = async () => {
    const added = await append(driver, events, await keptNotes(driver, notes));
    imported += added;
    skipped += events.length - added;
    [events, notes, bytes] = [[], [], 0];
  };
  const take = async (line: Line): Promise<boolean> => {
    const { event, erasure, ...read } = importedLine(line, key);
    if (event !== undefined) events.push(event);
    bytes += event?.body?.byteLength ?? 0;
    notes.push(...read.notes ?? []);
    if (read.wasEvent) former++;
    if (erasure !== undefined) {
      const isOwn = erasure[1] === "key" && erasure[2] === own;
      await write(driver, [
        ...isOwn ? [] : [insertAliasRow(erasure)],
        MORE_ERASURES,
      ]);
    }
    end = read.end;
    return end !== undefined;
  };
  const taken = async () => {
    const waiting = events.length + notes.length;
    if (waiting >= BATCH_EVENTS || bytes >= BATCH_BYTES) await flush();
  };
  try {
    const header = (line: Line) => checkHeader(line, environment);
    await takeLines(lines, { header, take, taken });
  } finally {
    await flush();
  }
  const read = imported + skipped + former;
  if (end !== read) {
    throw new TypeError(
      end === undefined
        ? `Cannot import all: the file is cut after ${read} events; what it ` +
          "holds is imported, and importing a whole file continues from there"
        : `Cannot import all: the file holds ${read} events and states ${end}`,
    );
  }
  return { imported, skipped };
}

/** What people wrote of an order whose person was erased may name that person. */
async function keptNotes(
  driver: Driver,
  notes: readonly Note[],
): Promise<readonly Note[]> {
  const orders = notes.filter(({ entity }) => entity === "order")
    .map(({ entityId }) => entityId);
  const erased = await readErasedOrders(driver, orders);
  return notes.filter(({ entity, entityId }) =>
    entity !== "order" || !erased.has(entityId)
  );
}

/** Appends, and marks the positions as imported, in one batch. */
async function append(
  driver: Driver,
  events: readonly NewEvent[],
  notes: readonly Note[],
): Promise<number> {
  if (events.length + notes.length === 0) return 0;
  const results = await driver.batch([
    FROM_HERE,
    appendStatement(events),
    ...notes.length === 0 ? [] : [appendStatement(notes.map(noteEvent))],
    TO_HERE,
  ], "write");
  return results[1]?.rowsAffected ?? 0;
}

const LAST = "(SELECT coalesce(max(position), 0) FROM events)";

/** Where the batch begins; what was folded since the last one is forgotten. */
const FROM_HERE: Statement = statement(
  `INSERT INTO cursors
    SELECT 'imported', json_array(json_array(${LAST} + 1, ${LAST})), 0 WHERE true
    ON CONFLICT (name) DO UPDATE SET value = CASE
      WHEN value ->> '$[#-1][1]' <= (SELECT position FROM ledger)
        THEN excluded.value
      WHEN value ->> '$[#-1][1]' = ${LAST} THEN value
      ELSE json_insert(value, '$[#]', excluded.value -> '$[0]') END`,
);

/** Where it ends. Nothing else is appended between the two. */
const TO_HERE: Statement = statement(
  `UPDATE cursors SET value = json_replace(value, '$[#-1][1]', ${LAST})
    WHERE name = 'imported'`,
);

const MORE_ERASURES: Statement = statement(
  "UPDATE ledger SET erasures = erasures + 1, turn = turn + 1",
);

function checkHeader(root: Line, environment: string): void {
  if (root.rampkit !== "events" || root.version !== 1) {
    throw new TypeError(
      root.rampkit === "ledger"
        ? "It was written with --move: import it with --move into an empty ledger"
        : "It is not the header that `ledger export` writes; webhook bodies are " +
          "taken by `webhook replay`, a copy of a ledger by `ledger restore`",
    );
  }
  if (root.environment !== environment) {
    throw new TypeError(
      `The events belong to the environment ${
        JSON.stringify(root.environment)
      }, and this ledger to ${JSON.stringify(environment)}`,
    );
  }
}
