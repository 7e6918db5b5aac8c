import { open, readFile, rename } from "node:fs/promises";
import process from "node:process";
import { messageOf } from "../../core/guards.ts";
import { LedgerError } from "../store/database.ts";
import { fileId } from "../store/files.ts";

/** How far the evidence chain reaches. */
export interface ChainHead {
  /** Position of the last event in the chain; 0 when there is none. */
  readonly position: number;
  /** Number of events in the chain. */
  readonly events: number;
  /**
   * Hash of the last event, 64 hex digits: record it elsewhere, with `events`.
   */
  readonly hash: string;
}

/** The head of a chain, as it was stored outside the database. */
export interface AnchoredHead extends ChainHead {
  /** Identity of the ledger, 32 hex digits. */
  readonly ledgerId: string;
  /** When it was stored, UTC ISO 8601. */
  readonly anchoredAt: string;
}

/** An anchored head that a restore discarded on purpose. */
export interface AnchorReset {
  /** When, UTC ISO 8601. */
  readonly at: string;
  /** Events of the discarded head; null when it could not be read. */
  readonly events: number | null;
  /** Hash of the discarded head; null when it could not be read. */
  readonly hash: string | null;
}

/** Everything that is stored about the head of a chain. */
export interface AnchorRecord {
  /** The head; null until the chain is next extended. */
  readonly head: AnchoredHead | null;
  /** Discarded heads, oldest first. */
  readonly resets: readonly AnchorReset[];
}

/** Where the head of a chain is stored; {@linkcode openLedger} uses a file. */
export interface AnchorStore {
  /**
   * Reads what is stored.
   *
   * @throws {LedgerError} `corrupt` when it cannot be understood.
   */
  read(): Promise<AnchorRecord>;
  /** Stores it, whole or not at all. */
  write(record: AnchorRecord): Promise<void>;
}

/** Shortest time between two writes, ms: a chain grows many times a second. */
const SAVE_EVERY_MS = 1000;

interface HeadAnchorOptions {
  readonly store: AnchorStore;
  readonly ledgerId: string;
  readonly now: () => number;
  readonly readOnly: boolean;
  /** Time that only goes forward, in ms. */
  readonly elapsed?: () => number;
}

/**
 * Stores the head of a chain outside the database, so that a truncated chain is
 * noticed. A head never replaces one that is further along. When a write fails,
 * work continues, and the older head still applies.
 */
export class HeadAnchor {
  readonly #options: HeadAnchorOptions;
  readonly #elapsed: () => number;
  #known: AnchoredHead | null | undefined;
  #latest: ChainHead | null = null;
  #writtenAt = -Infinity;

  constructor(options: HeadAnchorOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
  }

  /**
   * The head that the chain must contain; null where none can be read. It is read once,
   * because another process can only have saved a later one of the same chain, and
   * afresh where a restore may have discarded it.
   */
  async head(afresh = false): Promise<AnchoredHead | null> {
    if (this.#known === undefined || afresh) {
      this.#known = await this.record().then(({ head }) => head, () => null);
    }
    return this.#known;
  }

  record(): Promise<AnchorRecord> {
    return this.#options.store.read();
  }

  /** Saves a head that the chain has reached, at most once a second. */
  async save(head: ChainHead): Promise<void> {
    if (this.#options.readOnly || head.events === 0) return;
    if (head.events === this.#known?.events) return;
    this.#latest = head;
    if (this.#elapsed() - this.#writtenAt >= SAVE_EVERY_MS) await this.flush();
  }

  /** Writes a head that `save` has put off. */
  async flush(): Promise<void> {
    const { store, ledgerId, now } = this.#options;
    const latest = this.#latest;
    this.#latest = null;
    if (latest === null) return;
    this.#writtenAt = this.#elapsed();
    try {
      const { head, resets } = await store.read();
      if (head !== null && head.events >= latest.events) return;
      const { position, events, hash } = latest;
      const anchoredAt = new Date(now()).toISOString();
      this.#known = { ledgerId, position, events, hash, anchoredAt };
      await store.write({ head: this.#known, resets });
    } catch {
      // A full disk or a folder that cannot be written to must not stop the
      // fold; `verify` says from when the anchored head is.
    }
  }
}

const MOST_RESETS = 20;

interface StoredRecord extends AnchorRecord {
  /** Device and inode of the file that takes the ledger's place, announced when. */
  readonly restoring?: { readonly at: string; readonly file: string };
}

export function anchorFilePath(database: string): string {
  return `${database}-chain`;
}

/** Readable by its owner only; it reveals a chain that was cut in the database. */
export function anchorFile(database: string): AnchorStore {
  const place = anchorFilePath(database);
  return {
    read: async () => anchorFor(fileId(database), await readRecord(place)),
    write: (record) => writeRecord(place, record),
  };
}

/**
 * Announces which file will replace a database, before it does; null when none will. A
 * kill right after the swap then leaves no head of the old ledger. Nobody else may have
 * the database open. A record that cannot be read stays, and `verify` reports it.
 */
export async function announceRestore(
  database: string,
  by: string | null,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<void> {
  const record = await orCorrupt(anchorFile(database).read());
  if (record === null) return;
  if (record.head === null && record.resets.length === 0) return;
  await writeRecord(anchorFilePath(database), {
    ...record,
    ...(by === null || record.head === null ? {} : {
      restoring: { at: new Date(now()).toISOString(), file: fileId(by) },
    }),
  });
}

/**
 * Discards the head that is stored beside a database, and records that: for a ledger
 * that was restored on purpose from a backup. Nobody else may have it open.
 */
export async function resetAnchor(
  database: string,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<AnchorReset | null> {
  const place = anchorFilePath(database);
  const at = new Date(now()).toISOString();
  const record = await orCorrupt(readRecord(place));
  if (record?.head === null) return null;
  const { events = null, hash = null } = record?.head ?? {};
  const reset: AnchorReset = { at, events, hash };
  const resets = [...record?.resets ?? [], reset].slice(-MOST_RESETS);
  await writeRecord(place, { head: null, resets });
  return reset;
}

function orCorrupt<Value>(reading: Promise<Value>): Promise<Value | null> {
  return reading.catch((error) => {
    if (error instanceof LedgerError && error.code === "corrupt") return null;
    throw error;
  });
}

async function readRecord(place: string): Promise<StoredRecord> {
  let text: string;
  try {
    text = await readFile(place, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") {
      return { head: null, resets: [] };
    }
    const reason = messageOf(error);
    throw new LedgerError(
      "cannot_open",
      `The file that keeps the head of the chain cannot be read: ${place}: ` +
        reason,
    );
  }
  const record = parsed(text);
  if (record !== null) return record;
  throw new LedgerError(
    "corrupt",
    `The file that keeps the head of the chain cannot be understood: ${place}`,
  );
}

function parsed(text: string): StoredRecord | null {
  try {
    const { head, resets, restoring } = JSON.parse(text);
    return (head === null || isHead(head)) && Array.isArray(resets)
      ? { head, resets, restoring }
      : null;
  } catch {
    return null;
  }
}

function isHead(value: unknown): value is AnchoredHead {
  const head = value as Partial<AnchoredHead>;
  return Number.isSafeInteger(head.position) &&
    Number.isSafeInteger(head.events) && typeof head.ledgerId === "string" &&
    typeof head.anchoredAt === "string" &&
    /^[0-9a-f]{64}$/.test(head.hash ?? "");
}

/** Writes another file and renames it, so that a kill leaves the old or the new. */
async function writeRecord(place: string, record: StoredRecord): Promise<void> {
  const aside = `${place}.${process.pid}.tmp`;
  const file = await open(aside, "w", 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(aside, place);
}

/**
 * What is stored for the file that is in the ledger's place now. Moving a file keeps its
 * inode, so this shows whether an announced restore happened: then the head belongs to
 * the ledger that was replaced.
 */
function anchorFor(
  file: string,
  { head, resets, restoring }: StoredRecord,
): AnchorRecord {
  if (head === null || restoring?.file !== file) return { head, resets };
  const { events, hash } = head;
  const reset = { at: restoring.at, events, hash };
  return { head: null, resets: [...resets, reset] };
}
