import { packEvents } from "../store/append.ts";
import type { Driver, Statement } from "../store/driver.ts";
import { LedgerError } from "../store/errors.ts";
import type { LedgerStamp } from "../store/migrate.ts";
import * as schemas from "./_schemas.ts";
import type { ExportedEvent, ExportHeader } from "./export.ts";

/** What an import did. */
export interface ImportReport {
  /** Events in the file. */
  readonly events: number;
  /** Events that were not there before. */
  readonly added: number;
  /** What is written on the ledger now; an empty one took on the file's. */
  readonly stamp: LedgerStamp;
}

/**
 * Reads an export into a ledger. Positions and the ledger's identity are kept,
 * so the chain, and another export, come out the same byte for byte.
 *
 * The ledger must be empty, or be the same ledger (to go on after an import
 * was interrupted, or to catch up with a newer export of it): two ledgers are
 * never mixed, because positions would collide. Nothing goes in before events
 * that the chain has passed.
 *
 * @param driver A database that has been migrated.
 * @param stamp What is written on the ledger.
 * @param lines The export, one line each; a newline at the end is ignored.
 * @throws {SyntaxError} When a line is no part of an export, or the end is
 * missing; what came before is stored, and importing again goes on from there.
 * @throws {LedgerError} `wrong_environment`, `not_empty`, or what the database
 * failed with.
 *
 * @example Read a file
 * ```ts ignore
 * await importLedger(driver, stamp, file.readable
 *   .pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()));
 * ```
 */
export async function importLedger(
  driver: Driver,
  stamp: LedgerStamp,
  lines: AsyncIterable<string>,
): Promise<ImportReport> {
  let header: ExportHeader | null = null;
  let end: number | null = null;
  let number = 0;
  let events = 0;
  let added = 0;
  let bytes = 0;
  let waiting: ExportedEvent[] = [];
  const flush = async () => {
    if (waiting.length > 0) added += await store(driver, waiting);
    waiting = [];
    bytes = 0;
  };
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const value = parseLine(line, number);
    if (header === null) {
      header = checkHeader(schemas.header.safeParse(value), number);
      await adopt(driver, stamp, header);
      continue;
    }
    if (end !== null) refuse(number, "nothing may follow the end");
    const trailer = schemas.trailer.safeParse(value);
    if (trailer.success) {
      end = trailer.data.end;
      continue;
    }
    const event = schemas.event.safeParse(value);
    if (!event.success) {
      const [issue] = event.error.issues;
      refuse(number, `${issue?.path.join(".")}: ${issue?.message}`);
    }
    waiting.push(event.data);
    events++;
    bytes += line.length;
    if (waiting.length >= 500 || bytes > 1 << 20) await flush();
  }
  await flush();
  if (header === null) refuse(1, "the file is empty");
  if (end !== events) {
    refuse(
      number,
      end === null
        ? "the file is cut: its end is missing"
        : `the end says ${end} events; there were ${events}`,
    );
  }
  const { ledgerId, createdAt } = header;
  return { events, added, stamp: { ...stamp, ledgerId, createdAt } };
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    refuse(number, error instanceof Error ? error.message : String(error));
  }
}

function checkHeader(
  parsed: ReturnType<typeof schemas.header.safeParse>,
  number: number,
): ExportHeader {
  if (!parsed.success) {
    refuse(number, "it does not begin like the export of a ledger");
  }
  return parsed.data;
}

function refuse(line: number, reason: string): never {
  throw new SyntaxError(`Cannot import line ${line}: ${reason}`);
}

/** Gives an empty ledger the identity of the one in the file. */
async function adopt(
  driver: Driver,
  stamp: LedgerStamp,
  header: ExportHeader,
): Promise<void> {
  if (header.environment !== stamp.environment) {
    throw new LedgerError(
      "wrong_environment",
      "The export belongs to the environment " +
        `${JSON.stringify(header.environment)}, not to ` +
        `${JSON.stringify(stamp.environment)}`,
    );
  }
  const [, after] = await driver.batch([{
    sql: "UPDATE rampkit SET ledger_id = ?, created_at = ? " +
      "WHERE NOT EXISTS (SELECT 1 FROM events)",
    args: [header.ledgerId, header.createdAt],
  }, {
    sql: "SELECT ledger_id FROM rampkit",
    args: [],
  }], "write");
  if (after?.rows[0]?.[0] !== header.ledgerId) {
    throw new LedgerError(
      "not_empty",
      "The ledger already holds events of its own; import into a new one",
    );
  }
}

async function store(
  driver: Driver,
  events: readonly ExportedEvent[],
): Promise<number> {
  const { blob, rows } = packEvents(events.map((event) => ({
    ...event,
    body: bytesOf(event.body),
    salt: bytesOf(event.salt),
  })));
  const positioned = rows.map((row, at) => [...row, events[at]?.position]);
  const erased = events.filter(({ commitment }) => commitment !== undefined);
  try {
    const [result] = await driver.batch([
      { sql: insert, args: [blob, JSON.stringify(positioned)] },
      ...(erased.length === 0 ? [] : [erasures(erased)]),
    ], "write");
    return result?.rowsAffected ?? 0;
  } catch (error) {
    if (error instanceof LedgerError && error.code === "constraint") {
      throw new LedgerError(
        "not_empty",
        "The ledger already went another way at or after position " +
          `${events[0]?.position}; import into a new one`,
        { cause: error },
      );
    }
    throw error;
  }
}

function erasures(events: readonly ExportedEvent[]): Statement {
  const commitments = new Uint8Array(events.length * 32);
  events.forEach(({ commitment = "" }, at) => {
    commitments.set(Uint8Array.fromBase64(commitment).subarray(0, 32), at * 32);
  });
  return {
    sql: "INSERT INTO erasures (position, commitment) " +
      "SELECT value, substr(?1, key * 32 + 1, 32) FROM json_each(?2) " +
      "WHERE true ON CONFLICT DO NOTHING",
    args: [
      commitments,
      JSON.stringify(events.map(({ position }) => position)),
    ],
  };
}

function bytesOf(base64: string | null): Uint8Array | null {
  return base64 === null ? null : Uint8Array.fromBase64(base64);
}

// A new event at a position that the chain has passed gets a NULL where none
// may be, which undoes the batch.
const insert = `INSERT INTO events (
  event_id, kind, type, order_id, user_id, click_id,
  occurred_at, recorded_at, read_at, digest, body, salt, position)
SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, e.value ->> 3,
  e.value ->> 4, e.value ->> 5, e.value ->> 6,
  CASE
    WHEN e.value ->> 14 > coalesce((SELECT position FROM chain_checkpoint), 0)
      OR EXISTS (SELECT 1 FROM events WHERE event_id = e.value ->> 0)
    THEN e.value ->> 7
  END,
  e.value ->> 8, e.value ->> 9,
  substr(?1, e.value ->> 10, e.value ->> 11),
  substr(?1, e.value ->> 12, e.value ->> 13),
  e.value ->> 14
FROM json_each(?2) AS e
WHERE true
ON CONFLICT (event_id) DO NOTHING`;
