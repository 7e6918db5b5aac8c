import { messageOf } from "../../core/guards.ts";
import { open, readFile, rename } from "node:fs/promises";
import process from "node:process";
import { LedgerError } from "../store/driver/errors.ts";
import { fileId } from "../store/connections/file_identity.ts";
import type {
  AnchoredHead,
  AnchorRecord,
  AnchorReset,
  AnchorStore,
} from "./head_anchor.ts";

/** Resets that are remembered. */
const MOST_RESETS = 20;

/** What the file holds. */
interface StoredRecord extends AnchorRecord {
  readonly restoring?: AnnouncedRestore | undefined;
}

/**
 * Path of the file beside a database that keeps the head of its chain.
 *
 * @param database Path of the database.
 *
 * @example Which file that is
 * ```ts
 * import { anchorFilePath } from "./anchor_file.ts";
 * import assert from "node:assert/strict";
 *
 * assert.equal(anchorFilePath("rampkit.db"), "rampkit.db-chain");
 * ```
 */
export function anchorFilePath(database: string): string {
  return `${database}-chain`;
}

/**
 * Stores the head of a chain in a file beside the database, readable by its
 * owner only. It reveals a chain that was truncated in the database.
 *
 * @param database Path of the database.
 */
export function anchorFile(database: string): AnchorStore {
  const place = anchorFilePath(database);
  return {
    place,
    read: async () => anchorFor(fileId(database), await readRecord(place)),
    write: (record) => writeRecord(place, record),
  };
}

/**
 * Announces which file will replace a database, before it does. A kill right
 * after the swap then leaves no head of the old ledger: it counts as discarded
 * from the moment that file is in its place.
 *
 * A record that cannot be read stays as it is, and `verify` reports it.
 *
 * @param database Path of the database. Nobody else may have it open.
 * @param by Path of the file that will be moved there; null when none will.
 * @param options `now`: the clock, in ms.
 */
export async function announceRestore(
  database: string,
  by: string | null,
  options: { readonly now?: () => number } = {},
): Promise<void> {
  const { now = Date.now } = options;
  const { place, read } = anchorFile(database);
  let record: AnchorRecord;
  try {
    record = await read();
  } catch (error) {
    if (isCorrupt(error)) return;
    throw error;
  }
  if (record.head === null && record.resets.length === 0) return;
  await writeRecord(place, {
    ...record,
    ...(by === null || record.head === null ? {} : {
      restoring: { at: new Date(now()).toISOString(), file: fileId(by) },
    }),
  });
}

/**
 * Discards the head that is stored beside a database, and records that: for a
 * ledger that was restored on purpose from a backup, whose chain is shorter.
 * The next step of the chain stores a new head.
 *
 * @param database Path of the database. Nobody else may have it open.
 * @param options `now`: the clock, in ms.
 * @returns The head that was given up; null when none was kept.
 *
 * @example After a backup was put in the place of a ledger
 * ```ts
 * import { resetAnchor } from "./anchor_file.ts";
 * import assert from "node:assert/strict";
 *
 * const folder = await Deno.makeTempDir();
 * assert.equal(await resetAnchor(`${folder}/ledger.db`), null);
 * await Deno.remove(folder, { recursive: true });
 * ```
 */
export async function resetAnchor(
  database: string,
  options: { readonly now?: () => number } = {},
): Promise<AnchorReset | null> {
  const { now = Date.now } = options;
  const place = anchorFilePath(database);
  const at = new Date(now()).toISOString();
  let record: AnchorRecord = { head: null, resets: [] };
  let reset: AnchorReset = { at, events: null, hash: null };
  try {
    record = await readRecord(place);
    if (record.head === null) return null;
    reset = { at, events: record.head.events, hash: record.head.hash };
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
  const resets = [...record.resets, reset].slice(-MOST_RESETS);
  await writeRecord(place, { head: null, resets });
  return reset;
}

function isCorrupt(error: unknown): boolean {
  return error instanceof LedgerError && error.code === "corrupt";
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

/** A restore that was announced and may have happened since. */
export interface AnnouncedRestore {
  /** When it was announced, UTC ISO 8601. */
  readonly at: string;
  /** Device and inode of the file that takes the ledger's place. */
  readonly file: string;
}

/**
 * What is stored for the file that is in the ledger's place now. Moving a file
 * keeps its inode, so this shows exactly whether an announced restore happened:
 * if it did, the head belongs to the replaced ledger and is discarded; if not,
 * it still applies.
 *
 * @param file Device and inode of the ledger's file.
 * @param record What the file beside it says.
 */
function anchorFor(
  file: string,
  { head, resets, restoring }: AnchorRecord & {
    readonly restoring?: AnnouncedRestore | undefined;
  },
): AnchorRecord {
  if (head === null || restoring?.file !== file) return { head, resets };
  const { events, hash } = head;
  return {
    head: null,
    resets: [...resets, { at: restoring.at, events, hash }],
  };
}
