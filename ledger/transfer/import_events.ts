import { isRecord, messageOf } from "../../core/guards.ts";
import type { NewEvent } from "../events/event.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { insertErasure } from "../store/tables/chain.ts";
import { appendErased } from "../store/tables/events/events.ts";
import {
  closeImportedRange,
  openImportedRange,
} from "../store/tables/imported.ts";
import { storeNotes } from "../attention/notes.ts";
import type { Note } from "../store/tables/notes.ts";
import {
  exportEnd,
  formerNote,
  importedErasure,
  type ImportedEvent,
  importedEvent,
  importedNote,
} from "./exported_event.ts";

/** How many events were imported, and how many were there already. */
export interface Import {
  /** Events appended. */
  readonly imported: number;
  /** Events that were there already. */
  readonly skipped: number;
}

/** Events and bytes of one batch. */
const batchEvents = 500;
const batchBytes = 4 << 20;

/**
 * Appends the events of an export. They are history: subscriptions do not get
 * their transitions, and the poller is not asked to confirm them.
 *
 * @param environment Environment of the ledger.
 * @param lines Lines of the export, without line breaks; empty ones are passed
 * over.
 * @throws {TypeError} When a line is not what an export writes, or comes from
 * another environment, or the end is missing. What came before it stays;
 * importing it again is safe.
 */
export async function importEvents(
  driver: Driver,
  environment: string,
  lines: AsyncIterable<string>,
): Promise<Import> {
  let [number, imported, skipped, bytes] = [0, 0, 0, 0];
  let formerNotes = 0;
  let events: ImportedEvent[] = [];
  let notes: Note[] = [];
  let begun = false;
  let end: number | null = null;
  const flush = async () => {
    await storeNotes(driver, notes);
    notes = [];
    if (events.length === 0) return;
    const appended = await append(driver, events);
    imported += appended;
    skipped += events.length - appended;
    events = [];
    bytes = 0;
  };
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    try {
      if (end !== null) throw new TypeError("Nothing may follow the last line");
      if (begun) {
        end = exportEnd(line);
        if (end !== null) continue;
        const note = importedNote(line);
        if (note !== null) notes.push(note);
        else {
          const erasure = importedErasure(line);
          if (erasure !== null) {
            await driver.batch(erasure, "write");
            continue;
          }
          const former = formerNote(line);
          if (former !== null) {
            formerNotes++;
            notes.push(...former);
            continue;
          }
          const event = importedEvent(line);
          events.push(event);
          bytes += event.body?.byteLength ?? 0;
        }
      } else {
        checkHeader(line, environment);
        begun = true;
      }
    } catch (cause) {
      await flush();
      const reason = messageOf(cause);
      throw new TypeError(`Cannot import line ${number}: ${reason}`, { cause });
    }
    if (events.length + notes.length >= batchEvents || bytes >= batchBytes) {
      await flush();
    }
  }
  await flush();
  const read = imported + skipped + formerNotes;
  if (end !== read) {
    throw new TypeError(
      end === null
        ? `Cannot import all: the file is cut after ${read} events; what it ` +
          "holds is imported, and importing a whole file continues from there"
        : `Cannot import all: the file holds ${read} events and states ${end}`,
    );
  }
  return { imported, skipped };
}

function checkHeader(line: string, environment: string): void {
  const root = parseObject(line);
  if (root.rampkit !== "events" || root.version !== 1) {
    throw new TypeError(
      "It is not the header that `ledger export` writes; webhook bodies are " +
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

/** A line as an object; an empty one where it is none. */
function parseObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Appends and marks the positions as imported, all in one batch. */
async function append(
  driver: Driver,
  events: readonly ImportedEvent[],
): Promise<number> {
  const appends = runs(events).map(appendRun);
  const results = await driver.batch([
    openImportedRange,
    ...appends,
    ...events.filter(({ body }) => body === null).map(({ eventId, erased }) =>
      insertErasure(
        eventId,
        erased?.part ?? null,
        erased?.commitment ?? null,
      )
    ),
    ...closeImportedRange,
  ], "write");
  return results.slice(1, 1 + appends.length)
    .reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
}

/** Erased events stand alone, so that the order of all is kept. */
function runs(events: readonly ImportedEvent[]): ImportedEvent[][] {
  const all: ImportedEvent[][] = [];
  for (const event of events) {
    const run = all.at(-1);
    if (run === undefined || event.body === null || run[0]?.body === null) {
      all.push([event]);
    } else run.push(event);
  }
  return all;
}

function appendRun(run: readonly ImportedEvent[]): Statement {
  const whole = run.filter(isWhole);
  return whole.length === run.length
    ? appendStatement(whole)
    : appendErased(run[0] as ImportedEvent);
}

function isWhole(event: ImportedEvent): event is ImportedEvent & NewEvent {
  return event.body !== null && event.digest !== null && event.salt !== null;
}
