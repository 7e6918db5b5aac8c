import type { RecordedEvent } from "../event/event.ts";
import type { Driver } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import type { LedgerStamp } from "../store/migrate.ts";

/** First line of an export. */
export interface ExportHeader {
  /** Says what the file is, and in which form. */
  readonly rampkit: "ledger/1";
  /** Environment of the ledger. */
  readonly environment: string;
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
  /** When the ledger was created, UTC ISO 8601. */
  readonly createdAt: string;
}

/** One event of an export: as stored, with bytes in base64. */
export interface ExportedEvent
  extends Omit<RecordedEvent, "body" | "digest" | "salt"> {
  /** The exact bytes, base64; null once erased. */
  readonly body: string | null;
  /** Digest, lower-case hex; null once erased. */
  readonly digest: string | null;
  /** Salt, base64; null once erased. */
  readonly salt: string | null;
  /** Of an erased event: what stands for its body, base64. */
  readonly commitment?: string;
}

/** Last line of an export; without it the file is cut. */
export interface ExportTrailer {
  /** Number of events before this line. */
  readonly end: number;
}

/**
 * Writes the ledger as NDJSON: a header, one event a line in order of
 * position, a trailer. The same events always give the same bytes.
 *
 * @param driver A database that has been migrated.
 * @param stamp What is written on the ledger.
 * @param options Step size.
 * @returns Lines, each with its newline.
 * @throws {LedgerError} When the database fails.
 *
 * @example Write a file
 * ```ts ignore
 * for await (const line of exportLedger(driver, stamp)) await file.write(line);
 * ```
 */
export async function* exportLedger(
  driver: Driver,
  stamp: LedgerStamp,
  options: { readonly limit?: number } = {},
): AsyncGenerator<string, void, void> {
  const header: ExportHeader = {
    rampkit: "ledger/1",
    environment: stamp.environment,
    ledgerId: stamp.ledgerId,
    createdAt: stamp.createdAt,
  };
  yield line(header);
  let count = 0;
  const limit = options.limit ?? 500;
  for (let after = 0;;) {
    const [result] = await driver.batch([{
      sql: `SELECT ${eventColumns}, (SELECT commitment FROM erasures ` +
        "WHERE erasures.position = events.position) FROM events " +
        "WHERE position > ? ORDER BY position LIMIT ?",
      args: [after, limit],
    }], "read");
    const rows = result?.rows ?? [];
    for (const row of rows) {
      yield line(exported(recordedEvent(row), row[13]));
    }
    count += rows.length;
    const last = rows.at(-1)?.[0];
    if (last === undefined || rows.length < limit) break;
    after = last as number;
  }
  const trailer: ExportTrailer = { end: count };
  yield line(trailer);
}

function exported(event: RecordedEvent, commitment: unknown): ExportedEvent {
  return {
    ...event,
    body: event.body?.toBase64() ?? null,
    salt: event.salt?.toBase64() ?? null,
    ...(event.body === null && commitment instanceof Uint8Array
      ? { commitment: commitment.toBase64() }
      : {}),
  };
}

function line(value: object): string {
  return JSON.stringify(value) + "\n";
}
