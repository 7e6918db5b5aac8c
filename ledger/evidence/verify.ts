import { derive, factId } from "../event/derive.ts";
import type { RecordedEvent } from "../event/event.ts";
import type { Driver, SqlValue } from "../store/driver.ts";
import { eventColumns, recordedEvent } from "../store/event_row.ts";
import {
  type ChainOrigin,
  commitmentOf,
  genesisHash,
  linkHash,
} from "./chain.ts";

/**
 * What is wrong at a position.
 *
 * - `altered`: a column, the body, its digest or its salt was changed.
 * - `reordered`: the event stood at another position.
 * - `inserted`: the event was not there when the chain passed.
 * - `removed`: the event is gone.
 * - `underived`: the columns do not follow from the body, though the chain
 *   agrees: the event was stored wrong in the first place.
 * - `unexpected`: the chain is whole in itself, but it is not the one that was
 *   written down elsewhere.
 */
export type Damage =
  | "altered"
  | "reordered"
  | "inserted"
  | "removed"
  | "underived"
  | "unexpected";

/** What {@linkcode verifyChain} found. */
export interface Verification {
  /** Whether nothing is wrong. */
  readonly ok: boolean;
  /** Events looked at. */
  readonly events: number;
  /** Events that the chain covers. */
  readonly chained: number;
  /** Events appended since the chain was last extended. */
  readonly unchained: number;
  /** Events whose body was erased; they hold by their commitment. */
  readonly erased: number;
  /** Hash after the last event that was found to be right, 64 hex digits. */
  readonly hash: string;
  /** First position that is wrong; null when nothing is. */
  readonly firstBrokenPosition: number | null;
  /** What is wrong there. */
  readonly damage: Damage | null;
  /** The same in one sentence. */
  readonly detail: string | null;
}

/** What to hold the chain against. */
export interface VerifyOptions {
  /** Count and hash that were printed earlier and kept elsewhere. */
  readonly expect?: {
    /** Events of the chain at that time. */
    readonly count: number;
    /** Its hash at that time, 64 hex digits. */
    readonly hash: string;
  };
  /** Told how many events have been looked at, after each step. */
  readonly onProgress?: (events: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
  /**
   * Positions of one step.
   *
   * @default 500
   */
  readonly limit?: number;
}

/**
 * Computes the whole chain again, and everything that bodies determine, and
 * stops at the first thing wrong. Events appended meanwhile do not disturb it.
 *
 * @param driver A database that has been migrated.
 * @param origin The ledger.
 * @param options What to hold the chain against.
 * @throws {LedgerError} When the database fails.
 *
 * @example Verify against what was kept elsewhere
 * ```ts
 * import { extendChain, openLedger, verifyChain } from "@rampkit/onramp/ledger";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 *   worker: false,
 * });
 * await ledger.recordSession({ session_id: "5f0c6a0e", flow_type: "simple" });
 * const origin = { environment: "sandbox", ledgerId: "0".repeat(32) };
 * const { events: count, hash } = await extendChain(ledger.driver, origin);
 * const found = await verifyChain(ledger.driver, origin, {
 *   expect: { count, hash },
 * });
 * assert.equal(found.ok, true);
 * ```
 */
export async function verifyChain(
  driver: Driver,
  origin: ChainOrigin,
  options: VerifyOptions = {},
): Promise<Verification> {
  const walk = new Walk(origin, await readHead(driver), options.expect);
  const limit = options.limit ?? 500;
  for (let after = 0;;) {
    options.signal?.throwIfAborted();
    const rows = await readWindow(driver, after, limit);
    for (const row of rows) {
      const found = walk.step(row);
      if (found !== null) {
        return walk.broken(await namedAsMoved(driver, found));
      }
    }
    options.onProgress?.(walk.events);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return walk.end();
    after = last.position;
  }
}

/** One position: the event, the link, or both. */
interface Row {
  readonly position: number;
  readonly event: RecordedEvent | null;
  readonly commitment: Uint8Array | null;
  readonly hash: Uint8Array | null;
}

interface Head {
  readonly position: number;
  readonly events: number;
  readonly hash: string;
}

interface Finding {
  readonly position: number;
  readonly damage: Damage;
  readonly detail: string;
  /** Commitment of the event found, to look for where it belongs. */
  readonly commitment?: Uint8Array;
}

/** The pure part: what has been seen so far, and whether the next row fits. */
class Walk {
  readonly #expect: VerifyOptions["expect"];
  readonly #head: Head | null;
  #hash: Uint8Array;
  #last = 0;
  #chained = 0;
  #unchained = 0;
  #erased = 0;

  constructor(
    origin: ChainOrigin,
    head: Head | null,
    expect: VerifyOptions["expect"],
  ) {
    this.#head = head;
    this.#expect = expect;
    this.#hash = genesisHash(origin);
  }

  get events(): number {
    return this.#chained + this.#unchained;
  }

  step(row: Row): Finding | null {
    const { position, event } = row;
    if (position > (this.#head?.position ?? 0)) {
      // Past the head as it was at the start, links are left alone: other
      // processes may be adding some right now.
      if (event === null) return null;
      const found = underived(event);
      if (found === null) this.#unchained++;
      return found;
    }
    if (event === null) {
      return finding(position, "removed", "The event is gone");
    }
    if (row.commitment === null || row.hash === null) {
      return finding(position, "inserted", "The chain does not know the event");
    }
    const found = checkLink(event, row, this.#hash) ?? underived(event);
    if (found !== null) return found;
    if (event.body === null) this.#erased++;
    this.#hash = row.hash;
    this.#last = position;
    this.#chained++;
    if (
      this.#expect?.count === this.#chained &&
      this.#expect.hash !== this.#hash.toHex()
    ) {
      return this.#unexpected(
        `The chain of the first ${this.#chained} events has another hash ` +
          "than expected",
      );
    }
    return null;
  }

  end(): Verification {
    const found = this.#checkEnd();
    return found === null ? this.#result(null) : this.broken(found);
  }

  broken(found: Finding): Verification {
    return this.#result(found);
  }

  #checkEnd(): Finding | null {
    const head = this.#head;
    if (
      head !== null &&
      (head.events !== this.#chained || head.hash !== this.#hash.toHex())
    ) {
      return finding(
        this.#last + 1,
        "removed",
        `The chain had ${head.events} events; ${this.#chained} are left`,
      );
    }
    const expected = this.#expect?.count ?? 0;
    if (expected > this.#chained) {
      return this.#unexpected(
        `${expected} events were expected in the chain; it has ` +
          `${this.#chained}`,
        this.#last + 1,
      );
    }
    return null;
  }

  #unexpected(detail: string, position: number = this.#last): Finding {
    return finding(position, "unexpected", detail);
  }

  #result(found: Finding | null): Verification {
    return {
      ok: found === null,
      events: this.events,
      chained: this.#chained,
      unchained: this.#unchained,
      erased: this.#erased,
      hash: this.#hash.toHex(),
      firstBrokenPosition: found?.position ?? null,
      damage: found?.damage ?? null,
      detail: found?.detail ?? null,
    };
  }
}

function checkLink(
  event: RecordedEvent,
  row: Row,
  previous: Uint8Array,
): Finding | null {
  const { position, body, digest, salt } = event;
  const stored = row.commitment ?? new Uint8Array();
  if (body !== null && digest !== null && salt !== null) {
    const commitment = commitmentOf({ body, digest, salt });
    if (!same(commitment, stored)) {
      return {
        position,
        damage: "altered",
        detail: "The body, its digest or its salt was changed",
        commitment,
      };
    }
  } else if (body !== null || digest !== null || salt !== null) {
    return finding(position, "altered", "The body is erased in part only");
  }
  if (!same(linkHash(previous, event, stored), row.hash ?? new Uint8Array())) {
    return finding(
      position,
      "altered",
      "A column or the link of the event was changed",
    );
  }
  return null;
}

function underived(event: RecordedEvent): Finding | null {
  const { body, digest } = event;
  if (body === null || digest === null) return null;
  const wrong = wrongColumn(event, body);
  return wrong === null ? null : finding(
    event.position,
    "underived",
    `The column ${wrong} does not follow from the body`,
  );
}

function wrongColumn(event: RecordedEvent, body: Uint8Array): string | null {
  let fact: ReturnType<typeof derive>;
  try {
    fact = derive(event.kind, body);
  } catch {
    return "body";
  }
  for (const [name, value] of Object.entries(fact.columns)) {
    if (event[name as keyof typeof fact.columns] !== value) return name;
  }
  const { entity, columns: { digest } } = fact;
  if (entity === null || digest === null) return null;
  return factId(event.kind, entity, event.readAt, digest) === event.eventId
    ? null
    : "eventId";
}

function finding(position: number, damage: Damage, detail: string): Finding {
  return { position, damage, detail };
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength &&
    a.every((byte, at) => byte === b[at]);
}

async function readHead(driver: Driver): Promise<Head | null> {
  const [result] = await driver.batch([{
    sql: "SELECT position, events, hash FROM chain_checkpoint",
    args: [],
  }], "read");
  const row = result?.rows[0];
  return row === undefined ? null : {
    position: row[0] as number,
    events: row[1] as number,
    hash: row[2] as string,
  };
}

/** Events and links side by side; links without an event last of each step. */
async function readWindow(
  driver: Driver,
  after: number,
  limit: number,
): Promise<Row[]> {
  const [events, orphans] = await driver.batch([{
    sql: `SELECT ${eventColumns}, chain.commitment, chain.hash FROM events ` +
      "LEFT JOIN chain USING (position) " +
      "WHERE events.position > ? ORDER BY events.position LIMIT ?",
    args: [after, limit],
  }, {
    sql: "SELECT position FROM chain WHERE position > ? AND NOT EXISTS " +
      "(SELECT 1 FROM events WHERE events.position = chain.position) " +
      "ORDER BY position LIMIT ?",
    args: [after, limit],
  }], "read");
  const rows: Row[] = (events?.rows ?? []).map((row) => ({
    position: row[0] as number,
    event: recordedEvent(row),
    commitment: row[13] as Uint8Array | null,
    hash: row[14] as Uint8Array | null,
  }));
  for (const [position] of orphans?.rows ?? []) {
    rows.push({
      position: position as number,
      event: null,
      commitment: null,
      hash: null,
    });
  }
  return rows.sort((a, b) => a.position - b.position).slice(0, limit);
}

/** An altered body that belongs to another link was moved, not edited. */
async function namedAsMoved(driver: Driver, found: Finding): Promise<Finding> {
  if (found.commitment === undefined) return found;
  const [result] = await driver.batch([{
    sql: "SELECT position FROM chain WHERE commitment = ?",
    args: [found.commitment] satisfies SqlValue[],
  }], "read");
  const home = result?.rows[0]?.[0];
  return home === undefined ? found : finding(
    found.position,
    "reordered",
    `The event stood at position ${home}`,
  );
}
