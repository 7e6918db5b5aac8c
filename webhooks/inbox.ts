import { hex } from "@scure/base";
import { concatenated, free } from "../core/bytes.ts";
import { errorCode, messageOf } from "../core/guards.ts";
import type { Delivery, UnansweredDelivery } from "../core/wire/objects.ts";
import {
  deliveryRecord,
  noteRecord,
  RECORD_BYTES,
} from "../core/wire/delivery_records.ts";
import { LARGE_BODY_BYTES, type NoRoom, noRoomInSpool } from "./body_room.ts";
import {
  type Group,
  type InboxFile,
  type InboxFolder,
  inboxFolder,
  isDamage,
} from "./inbox_file.ts";
import {
  type Spool,
  type SpoolDamage,
  SpoolError,
  type SpoolWriters,
  type TakeRecords,
} from "./spool.ts";

/** What an inbox needs; see `FileSpoolOptions` for the meanings. */
export interface InboxOptions
  extends Required<Omit<FileSpoolOptions, "directory">> {
  readonly folder: InboxFolder;
  /** Name of this process: eight hexadecimal digits that do not repeat. */
  readonly writer: string;
}

const GROUP_RECORDS = 256;
const GROUP_BYTES = 256 << 10;

/**
 * A file that took so many bytes is followed by another. What was handed over
 * is forgotten with its file, or while nothing waits: to forget each group
 * would need room where there may be none. After a crash it is handed over
 * again, and the ledger stores each delivery once.
 */
const MOST_WRITTEN = 8 << 20;

/** Records that are stored together, with one promise for all of them. */
class Gathered {
  readonly records: Uint8Array<ArrayBuffer>[] = [];
  readonly stored: PromiseWithResolvers<void> = Promise.withResolvers();
  bytes = 0;
  largeBytes = 0;
}

/** A file, and what of it is handed over already. */
interface Held {
  readonly file: InboxFile;
  /** Number of the last group that was read; damaged ones stay behind. */
  read: number;
  /** Number of the last group that is stored for good. */
  last: number;
  /** Bytes that were written since it was empty. */
  written: number;
  count: number;
  bytes: number;
  largeBytes: number;
}

/**
 * Keeps deliveries in files of its own, and takes over the files of processes
 * that ended. After a failure it begins another file: what the failing one
 * holds is still handed over.
 */
export class Inbox implements Spool {
  readonly #options: InboxOptions;
  /** Files with groups, the one that is written to last. */
  #held: Held[] = [];
  #own: Held | null = null;
  #made = 0;
  #gathering = new Gathered();
  #writing: Gathered | null = null;
  #writer: Promise<void> | null = null;
  #draining: Promise<number> | null = null;
  #isClosed = false;
  #onKept: () => void = () => {};
  writers: SpoolWriters;

  constructor(options: InboxOptions) {
    this.#options = options;
    this.writers = {
      own: options.writer,
      takenOver: new Set(),
      others: new Set(),
      listedMs: -Infinity,
    };
    // What cannot be taken over must not keep deliveries from being stored;
    // tidying tells of it.
    this.#takeOver();
  }

  get depth(): number {
    return this.#sum("count");
  }

  get bytes(): number {
    return this.#sum("bytes");
  }

  get oldestMs(): number | null {
    for (const { file, count, read } of this.#held) {
      if (count > 0) return file.oldestMs(read);
    }
    return null;
  }

  readonly put = (delivery: Delivery): Promise<void> =>
    this.#keep(() => deliveryRecord(delivery));

  readonly note = (unanswered: UnansweredDelivery): Promise<void> =>
    this.#keep(() => noteRecord(unanswered));

  readonly noRoomFor = (bodyBytes: number): NoRoom | null =>
    noRoomInSpool(bodyBytes, {
      maxBytes: this.#options.maxBytes,
      bytes: this.#sumOfAll("bytes"),
      largeBytes: this.#sumOfAll("largeBytes"),
    });

  onKept(listener: () => void): void {
    this.#onKept = listener;
  }

  drain(
    take: TakeRecords,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    this.#draining ??= this.#drainAll(take, options.signal).finally(() => {
      this.#draining = null;
    });
    return this.#draining;
  }

  // deno-lint-ignore require-await -- What fails rejects.
  async tidy(): Promise<void> {
    if (this.#isClosed || this.#draining !== null) return;
    const failure = this.#takeOver();
    if (this.#writer === null && this.#own?.count === 0) {
      const { file, read } = this.#own;
      onDisk("Cannot clear the spool", () => {
        file.forget(read);
        file.tidy();
      });
      this.#own.written = 0;
    }
    if (failure !== null) throw failure;
  }

  // deno-lint-ignore require-await -- What fails rejects.
  async ready(): Promise<void> {
    this.#refuse(RECORD_BYTES);
    if (this.#own === null) onDisk(CANNOT_KEEP, () => this.#begin());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#writer;
    await this.#draining?.catch(() => {});
    for (const held of [...this.#held]) {
      try {
        if (held.count === 0) this.#drop(held);
        else {
          if (!held.file.isDamaged) held.file.forget(held.read);
          held.file.close();
        }
      } catch {
        // The next process takes it over.
      }
    }
    this.#held = [];
    this.#own = null;
  }

  #sum(what: "count" | "bytes" | "largeBytes"): number {
    return this.#held.reduce((sum, held) => sum + held[what], 0);
  }

  #sumOfAll(what: "bytes" | "largeBytes"): number {
    return this.#sum(what) + this.#gathering[what] +
      (this.#writing?.[what] ?? 0);
  }

  #refuse(moreBytes: number): void {
    if (this.#isClosed) {
      throw new SpoolError("closed", "Cannot use spool: it was closed");
    }
    const { maxBytes } = this.#options;
    const bytes = this.#sumOfAll("bytes") + moreBytes;
    if (bytes <= maxBytes) return;
    throw new SpoolError(
      "full",
      `Cannot spool delivery: ${bytes} bytes would be kept, of ${maxBytes} ` +
        "allowed; bring the ledger back, or raise maxBytes",
    );
  }

  // Not async: each delivery costs one promise, which its group shares.
  #keep(make: () => Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      // An id that is no ULID fails here, before it is among others.
      const record = make();
      this.#refuse(record.length);
      const group = this.#gathering;
      group.records.push(record);
      group.bytes += record.length;
      group.largeBytes += largeBytesOf(record);
      this.#writer ??= this.#writeGathered();
      return group.stored.promise;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #writeGathered(): Promise<void> {
    while (this.#gathering.records.length > 0) {
      const group = this.#gathering;
      this.#gathering = new Gathered();
      this.#writing = group;
      try {
        await this.#write(grouped(group.records));
        group.stored.resolve();
        this.#onKept();
      } catch (error) {
        group.stored.reject(spoolError(CANNOT_KEEP, error));
      } finally {
        this.#writing = null;
      }
    }
    this.#writer = null;
  }

  /** Writes to a new file when the one in use turns out to be removed. */
  async #write(groups: readonly Group[]): Promise<void> {
    try {
      if ((this.#own?.written ?? 0) > MOST_WRITTEN) this.#own = null;
      await this.#writeTo(this.#own ?? this.#begin(), groups);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      await this.#writeTo(this.#begin(), groups);
    }
  }

  async #writeTo(held: Held, groups: readonly Group[]): Promise<void> {
    try {
      const last = held.file.write(groups);
      try {
        await held.file.sync();
      } finally {
        // Also what cannot be synced may be there.
        for (const { count, largeBytes, bytes } of groups) {
          held.count += count;
          held.bytes += bytes.length;
          held.largeBytes += largeBytes;
          held.written += bytes.length;
        }
        held.last = last;
        this.#writing = null;
      }
    } catch (error) {
      // Nothing more is written where a write failed.
      if (this.#own === held) this.#own = null;
      if (held.count === 0 && this.#draining === null) this.#drop(held);
      throw error;
    }
  }

  #begin(): Held {
    const { folder, writer } = this.#options;
    const name = `${writer}-${this.#options.now()}-${++this.#made}.inbox.db`;
    const held = { ...NOTHING, file: folder.create(name) };
    this.#held.push(held);
    this.#own = held;
    return held;
  }

  async #drainAll(
    take: TakeRecords,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    this.#refuse(-Infinity);
    // What comes meanwhile is left to the next time: it makes a larger group.
    const kept = this.depth;
    let drained = 0;
    let failure: SpoolError | null = null;
    for (const held of [...this.#held]) {
      while (held.count > 0 && drained < kept) {
        if (this.#isClosed || signal?.aborted) return drained;
        drained += await this.#handOver(held, take);
      }
      if (held.count > 0 || held === this.#own) continue;
      try {
        this.#drop(held);
      } catch (error) {
        // What came later must not wait for it.
        failure ??= spoolError("Cannot clear the spool", error);
      }
    }
    if (failure !== null) throw failure;
    return drained;
  }

  /** Hands over the first groups of a file; what cannot be read is left out. */
  async #handOver(held: Held, take: TakeRecords): Promise<number> {
    const { file } = held;
    const wasDamaged = file.isDamaged;
    let groups: ReturnType<InboxFile["read"]>;
    try {
      groups = file.read(held.read, held.last);
    } catch (error) {
      if (!isDamage(error)) throw spoolError("Cannot read the spool", error);
      return this.#giveUp(held, messageOf(error));
    }
    const last = groups.at(-1)?.number;
    if (last === undefined) return this.#giveUp(held, "deliveries are missing");
    if (file.isDamaged && !wasDamaged) {
      this.#tell(file.name, "a checksum differs");
    }
    const bytes = concatenated(groups.map(({ bytes }) => bytes));
    const count = groups.reduce((sum, group) => sum + group.count, 0);
    if (count > 0) await take(bytes, count);
    held.read = last;
    held.count -= count;
    held.bytes -= bytes.length;
    for (const { largeBytes } of groups) held.largeBytes -= largeBytes;
    free(bytes);
    return count;
  }

  #giveUp(held: Held, why: string): number {
    if (!held.file.isDamaged) this.#tell(held.file.name, why);
    Object.assign(held, NOTHING);
    this.#drop(held, true);
    return 0;
  }

  #tell(file: string, detail: string): void {
    this.#options.onDamage({ file, detail });
  }

  #drop(held: Held, isDamaged: boolean = held.file.isDamaged): void {
    const { folder } = this.#options;
    const { file } = held;
    if (!this.#held.includes(held)) return;
    this.#held = this.#held.filter((one) => one !== held);
    if (this.#own === held) this.#own = null;
    if (!isDamaged) file.discard();
    file.close();
    if (isDamaged) folder.setAside(file.name);
    else folder.remove(file.name);
  }

  #takeOver(): SpoolError | null {
    const { folder, now, writer } = this.#options;
    const listedMs = now();
    let failure: SpoolError | null = null;
    const takenOver = new Set<string>();
    const others = new Set<string>();
    const mine = new Set(this.#held.map(({ file }) => file.name));
    const found: Held[] = [];
    for (const name of onDisk("Cannot list the spool", folder.list)) {
      const its = name.slice(0, writer.length);
      if (mine.has(name) || its === writer) continue;
      try {
        const file = folder.claim(name);
        if (file === null) {
          others.add(its);
          continue;
        }
        const held = { ...NOTHING, ...file.kept(), last: Infinity, file };
        takenOver.add(its);
        if (held.count > 0) found.push(held);
        else {
          file.close();
          folder.remove(name);
        }
      } catch (error) {
        if (isDamage(error)) {
          this.#tell(name, messageOf(error));
          folder.setAside(name);
        } else {
          others.add(its);
          failure ??= spoolError(
            `Cannot take over ${name} of the spool`,
            error,
          );
        }
      }
    }
    const age = ({ file, read }: Held): number => file.oldestMs(read) ?? 0;
    this.#held.unshift(...found.sort((a, b) => age(a) - age(b)));
    this.writers = {
      own: writer,
      takenOver: this.writers.takenOver.union(takenOver.difference(others)),
      others,
      listedMs,
    };
    return failure;
  }
}

const CANNOT_KEEP = "Cannot spool delivery";
const NOTHING = {
  ...{ read: 0, last: 0, written: 0 },
  ...{ count: 0, bytes: 0, largeBytes: 0 },
};

function largeBytesOf({ length }: Uint8Array): number {
  return length - RECORD_BYTES > LARGE_BODY_BYTES ? length : 0;
}

function grouped(records: readonly Uint8Array<ArrayBuffer>[]): Group[] {
  const groups: Uint8Array<ArrayBuffer>[][] = [];
  let bytes = 0;
  for (const record of records) {
    const last = groups.at(-1);
    if (!last || last.length === GROUP_RECORDS || bytes > GROUP_BYTES) {
      groups.push([record]);
      bytes = 0;
    } else last.push(record);
    bytes += record.length;
  }
  return groups.map((group) => ({
    count: group.length,
    largeBytes: group.reduce((sum, record) => sum + largeBytesOf(record), 0),
    bytes: concatenated(group),
  }));
}

function onDisk<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw spoolError(what, error);
  }
}

function spoolError(what: string, cause: unknown): SpoolError {
  if (cause instanceof SpoolError) return cause;
  const { code } = cause as { readonly code?: unknown };
  const why = code === "SQLITE_IOERR"
    ? "the disk may be full, over a quota or at a file size limit, or broken: "
    : "";
  return new SpoolError("disk", `${what}: ${why}${messageOf(cause)}`, {
    cause,
  });
}

/** Where and how {@linkcode fileSpool} keeps deliveries. */
export interface FileSpoolOptions {
  /**
   * Directory of the spool, readable by its owner alone; created whenever it
   * is missing.
   */
  readonly directory: string;
  /**
   * Most bytes to keep; beyond them deliveries are refused.
   *
   * @default 1073741824
   */
  readonly maxBytes?: number;
  /**
   * Called for each file that cannot be read, or not whole. It is kept under a
   * name ending in `.damaged`; polling finds what it held.
   *
   * @default Damage is not reported.
   */
  readonly onDamage?: (damage: SpoolDamage) => void;
  /**
   * Wall clock in milliseconds since 1970.
   *
   * @default Date.now
   */
  readonly now?: () => number;
}

/**
 * Opens a spool in a directory of the local disk.
 *
 * Every delivery is written and synced before {@linkcode Spool.put} resolves;
 * deliveries that arrive together share one sync. Several processes may use
 * one directory: each writes files of its own, small SQLite databases, and a file
 * whose process died is drained by another. Needs permission to read and write there.
 *
 * @param options Where and how.
 * @returns The spool, with what an earlier process left in it.
 * @throws {SpoolError} When the directory cannot be read.
 * @throws {RangeError} When a limit is not a positive number.
 *
 * @example Keep deliveries, and let the ledger take them
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import {
 *   fileSpool,
 *   spoolMover,
 *   webhookEndpoint,
 * } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const directory = await Deno.makeTempDir();
 * const ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const spool = await fileSpool({ directory });
 * const mover = spoolMover({ spool, take: ledger.appendRecords });
 * const endpoint = webhookEndpoint({
 *   append: spool.put,
 *   noRoomFor: spool.noRoomFor,
 *   unanswered: spool.note,
 *   secrets: ["a-secret-of-32-random-characters"],
 * });
 * const url = "http://localhost/webhooks/a-secret-of-32-random-characters";
 * await endpoint(new Request(url, { method: "POST", body: "{}" }));
 * await mover.settled();
 * assert.equal((await ledger.stats()).events.webhook, 1);
 * await endpoint.drain();
 * await mover.stop();
 * await spool.close();
 * await ledger.close();
 * await Deno.remove(directory, { recursive: true });
 * ```
 */
export async function fileSpool(options: FileSpoolOptions): Promise<Spool> {
  const { directory, maxBytes = 1 << 30, onDamage = () => {}, now = Date.now } =
    options;
  if (!(maxBytes > 0)) {
    throw new RangeError(
      `Cannot open spool: maxBytes must be positive, current value is ${maxBytes}`,
    );
  }
  const random = crypto.getRandomValues(new Uint8Array(4));
  const folder = inboxFolder(directory);
  return await Promise.resolve(
    new Inbox({ folder, writer: hex.encode(random), maxBytes, onDamage, now }),
  );
}
