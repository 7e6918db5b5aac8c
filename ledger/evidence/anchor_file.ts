import { open, readFile, rename, rm } from "node:fs/promises";
import {
  errorCode,
  isRecord,
  jsonRecord,
  messageOf,
} from "../../core/guards.ts";
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

/** What is stored about the head of a chain. */
interface AnchorRecord {
  /** The head; null until the chain is next extended. */
  readonly head: AnchoredHead | null;
  /** Discarded heads, oldest first. */
  readonly resets: readonly AnchorReset[];
  /** Device and inode of the file that takes the ledger's place, announced when. */
  readonly restoring?: { readonly at: string; readonly file: string };
  /** Why it cannot be understood; null where it can. */
  readonly unreadable: string | null;
}

/** Shortest time between two writes, ms: a chain grows many times a second. */
const SAVE_EVERY_MS = 1000;

interface HeadAnchorOptions {
  /** Path of the database; the head is stored beside it. */
  readonly database: string;
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
  readonly #options: Required<HeadAnchorOptions>;
  #known: AnchoredHead | null | undefined;
  #latest: ChainHead | null = null;
  #writtenAt = -Infinity;

  constructor(options: HeadAnchorOptions) {
    this.#options = { elapsed: () => performance.now(), ...options };
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

  /** @throws {LedgerError} When it cannot be read. */
  record(): Promise<AnchorRecord> {
    return readAnchor(this.#options.database);
  }

  /** Saves a head that the chain has reached, at most once a second. */
  async save(head: ChainHead): Promise<void> {
    const { readOnly, elapsed } = this.#options;
    if (readOnly || head.events === 0) return;
    if (head.events === this.#known?.events) return;
    this.#latest = head;
    if (elapsed() - this.#writtenAt >= SAVE_EVERY_MS) await this.flush();
  }

  /** Writes a head that `save` has put off. */
  async flush(): Promise<void> {
    const { database, ledgerId, now, elapsed } = this.#options;
    const latest = this.#latest;
    this.#latest = null;
    if (latest === null) return;
    this.#writtenAt = elapsed();
    try {
      const { head, resets, unreadable } = await this.record();
      if (unreadable !== null) return;
      if (head !== null && head.events >= latest.events) return;
      const { position, events, hash } = latest;
      const anchoredAt = new Date(now()).toISOString();
      const next = { ledgerId, position, events, hash, anchoredAt };
      await writeRecord(database, { head: next, resets });
      this.#known = next;
    } catch {
      // A full disk or a folder that cannot be written to must not stop the
      // fold; `verify` says from when the anchored head is.
    }
  }
}

const MOST_RESETS = 20;

export function anchorFilePath(database: string): string {
  return `${database}-chain`;
}

/**
 * Reads what is stored for the file that is in the ledger's place now. Moving a file
 * keeps its inode, so this shows whether an announced restore happened: then the head
 * belongs to the ledger that was replaced.
 *
 * @throws {LedgerError} `cannot_open` when it cannot be read.
 */
export async function readAnchor(database: string): Promise<AnchorRecord> {
  const { head, resets, restoring, unreadable } = await readRecord(database);
  if (head === null || restoring?.file !== fileId(database)) {
    return { head, resets, unreadable };
  }
  const { events, hash } = head;
  const reset = { at: restoring.at, events, hash };
  return { head: null, resets: [...resets, reset], unreadable };
}

/**
 * Announces which file will replace a database, before it does; null when none will. A
 * kill right after the swap then leaves no head of the old ledger. Nobody else may have
 * the database open. A record that cannot be understood stays, and `verify` reports it.
 */
export async function announceRestore(
  database: string,
  by: string | null,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<void> {
  const { head, resets, unreadable } = await readAnchor(database);
  if (unreadable !== null || (head === null && resets.length === 0)) return;
  const at = new Date(now()).toISOString();
  const restoring = by !== null && head !== null &&
    { restoring: { at, file: fileId(by) } };
  await writeRecord(database, { head, resets, ...restoring });
}

/**
 * Discards the head that is stored beside a database, and records that: for a ledger
 * that was restored on purpose from a backup. Nobody else may have it open.
 */
export async function resetAnchor(
  database: string,
  { now = Date.now }: { readonly now?: () => number } = {},
): Promise<void> {
  const { head, resets, unreadable } = await readRecord(database);
  if (head === null && unreadable === null) return;
  const { events = null, hash = null } = head ?? {};
  const reset = { at: new Date(now()).toISOString(), events, hash };
  const all = [...resets, reset].slice(-MOST_RESETS);
  await writeRecord(database, { head: null, resets: all });
}

async function readRecord(
  database: string,
): Promise<AnchorRecord> {
  const place = anchorFilePath(database);
  const said = "The file that keeps the head of the chain cannot be";
  const nothing = { head: null, resets: [], unreadable: null };
  let text: string;
  try {
    text = await readFile(place, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return nothing;
    const why = messageOf(error);
    throw new LedgerError("cannot_open", `${said} read: ${place}: ${why}`);
  }
  const record = jsonRecord(text);
  return isStored(record)
    ? { ...record, unreadable: null }
    : { ...nothing, unreadable: `${said} understood: ${place}` };
}

type StoredRecord = Omit<AnchorRecord, "unreadable">;

function isStored(record: unknown): record is StoredRecord {
  if (!isRecord(record) || !Array.isArray(record.resets)) return false;
  const { head } = record;
  return head === null || (isRecord(head) &&
    Number.isSafeInteger(head.position) && Number.isSafeInteger(head.events) &&
    typeof head.ledgerId === "string" && typeof head.anchoredAt === "string" &&
    /^[0-9a-f]{64}$/.test(String(head.hash)));
}

/**
 * Writes another file and renames it, so that a kill leaves the old or the new. It is
 * readable by its owner only, and has a name of its own: processes in two containers
 * have the same number.
 */
async function writeRecord(
  database: string,
  record: StoredRecord,
): Promise<void> {
  const place = anchorFilePath(database);
  const aside = `${place}.${crypto.randomUUID()}.tmp`;
  try {
    const file = await open(aside, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify(record)}\n`);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(aside, place);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
