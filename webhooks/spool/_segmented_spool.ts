import type { Damage } from "./_spool_records.ts";
import { decodeRecords, encodeRecord } from "./_spool_records.ts";
import { appendGroup, groupFrom, MOST_AT_ONCE } from "./_delivery_groups.ts";
import { diskError, onDisk } from "./_disk_error.ts";
import { newSegment, type Segment } from "./_segment.ts";
import type { SpoolDisk } from "./_spool_disk.ts";
import type { AppendDelivery, Delivery } from "../../core/wire/delivery.ts";
import { SpoolError } from "./spool_error.ts";
import type { Spool } from "./spool.ts";

/** Damage, and the segment it is in. */
export interface SegmentDamage extends Damage {
  /** Name of the segment's file. */
  readonly segment: string;
}

/** What a segmented spool needs; see `FileSpoolOptions` for the meanings. */
export interface SegmentedSpoolOptions {
  readonly disk: SpoolDisk;
  readonly newName: () => string;
  readonly maxBytes: number;
  readonly segmentBytes: number;
  readonly onDamage: (damage: SegmentDamage) => void;
}

const SEGMENT_SUFFIX = ".spool";
const DAMAGED_SUFFIX = ".damaged";

interface Waiting {
  readonly record: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: SpoolError) => void;
}

/**
 * A spool of append-only segment files. A process appends only to segments that
 * it created, and drains only segments that it holds. Opening or draining a
 * spool takes over the segments of processes that died.
 */
export class SegmentedSpool implements Spool {
  readonly #options: SegmentedSpoolOptions;
  /** Segments no longer written to, oldest first. */
  readonly #sealed: Segment[] = [];
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #active: Segment | null = null;
  #writer: Promise<void> | null = null;
  #draining: Promise<number> | null = null;
  #closed = false;

  private constructor(options: SegmentedSpoolOptions) {
    this.#options = options;
  }

  static async open(options: SegmentedSpoolOptions): Promise<SegmentedSpool> {
    const spool = new SegmentedSpool(options);
    await spool.#takeOver();
    return spool;
  }

  get depth(): number {
    let depth = 0;
    for (const { records, drained } of this.#segments()) {
      depth += Math.max(0, records - drained);
    }
    return depth;
  }

  get bytes(): number {
    let bytes = 0;
    for (const segment of this.#segments()) bytes += segment.bytes;
    return bytes;
  }

  async put(delivery: Delivery): Promise<void> {
    this.#refuseWhenClosed();
    const record = encodeRecord(delivery);
    const { maxBytes } = this.#options;
    const bytes = this.bytes + this.#waitingBytes + record.length;
    if (bytes > maxBytes) {
      throw new SpoolError(
        "full",
        `Cannot spool delivery: ${bytes} bytes would be kept, of ${maxBytes} ` +
          "allowed; bring the ledger back, or raise maxBytes",
      );
    }
    this.#waitingBytes += record.length;
    const kept = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
    });
    this.#writer ??= this.#writeWaiting();
    await kept;
  }

  drain(
    append: AppendDelivery,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<number> {
    this.#draining ??= this.#drainAll(append, options.signal).finally(() => {
      this.#draining = null;
    });
    return this.#draining;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer;
    await this.#draining?.catch(() => {});
    const active = this.#active;
    if (active !== null) this.#seal(active);
    for (const { file } of this.#sealed) file.close();
    this.#sealed.length = 0;
  }

  #segments(): Segment[] {
    return this.#active === null
      ? this.#sealed
      : [...this.#sealed, this.#active];
  }

  #refuseWhenClosed(): void {
    if (!this.#closed) return;
    throw new SpoolError("closed", "Cannot use spool: it was closed");
  }

  /** Writes what waits, a group at a time: one fsync for each group. */
  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      const bytes = concatenate(group.map(({ record }) => record));
      try {
        await this.#writeAnywhere(bytes, group.length);
        for (const { resolve } of group) resolve();
      } catch (error) {
        const failure = diskError("Cannot spool delivery", error);
        for (const { reject } of group) reject(failure);
      } finally {
        this.#waitingBytes -= bytes.length;
      }
    }
    this.#writer = null;
  }

  /** Writes to a new segment when the one in use turns out to be removed. */
  async #writeAnywhere(bytes: Uint8Array, records: number): Promise<void> {
    try {
      await this.#writeGroup(bytes, records);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      await this.#writeGroup(bytes, records);
    }
  }

  async #writeGroup(bytes: Uint8Array, records: number): Promise<void> {
    const segment = this.#active ??= await this.#create();
    const writing = (async (): Promise<void> => {
      await segment.file.write(bytes);
      await segment.file.sync();
    })();
    segment.writing = writing.catch(() => {});
    try {
      await writing;
      segment.records += records;
      segment.bytes += bytes.length;
      if (segment.bytes >= this.#options.segmentBytes) this.#seal(segment);
    } catch (error) {
      // After a failed write or fsync the contents of the file are not known:
      // write no more to it, and drain what can be read.
      segment.bytes += bytes.length;
      this.#seal(segment);
      throw error;
    } finally {
      segment.writing = null;
    }
  }

  async #create(): Promise<Segment> {
    const name = this.#options.newName() + SEGMENT_SUFFIX;
    return newSegment(name, await this.#options.disk.create(name));
  }

  #seal(segment: Segment): void {
    if (this.#active !== segment) return;
    this.#active = null;
    this.#sealed.push(segment);
  }

  async #drainAll(
    append: AppendDelivery,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    this.#refuseWhenClosed();
    await this.#takeOver();
    let drained = 0;
    // The first one shows whether the ledger is back. Then the group doubles,
    // because a commit of many costs hardly more than a commit of one.
    let atOnce = 1;
    while (!this.#closed && !signal?.aborted) {
      const active = this.#active;
      if (this.#sealed.length === 0 && active !== null) this.#seal(active);
      const segment = this.#sealed[0];
      if (segment === undefined) break;
      await segment.writing;
      const { disk } = this.#options;
      const { deliveries, damage } = decodeRecords(
        await onDisk("Cannot read spool", segment.file.read()),
      );
      this.#report(segment, damage);
      while (segment.drained < deliveries.length) {
        if (this.#closed || signal?.aborted) return drained;
        const group = groupFrom(deliveries, segment.drained, atOnce);
        const { taken, failure } = await appendGroup(group, append);
        segment.drained += taken;
        drained += taken;
        if (failure !== null) throw failure.reason;
        atOnce = Math.min(atOnce * 2, MOST_AT_ONCE);
      }
      // Unreadable bytes are kept for a person to look at, unless they are the
      // beginning of a record that was cut short and never acknowledged.
      await onDisk(
        "Cannot clear spool",
        damage.every(({ torn }) => torn)
          ? disk.remove(segment.name)
          : disk.rename(segment.name, segment.name + DAMAGED_SUFFIX),
      );
      segment.file.close();
      this.#sealed.splice(this.#sealed.indexOf(segment), 1);
    }
    return drained;
  }

  /** Claims the segments that no process holds. */
  async #takeOver(): Promise<void> {
    const { disk } = this.#options;
    const known = new Set(this.#segments().map(({ name }) => name));
    const names = (await onDisk("Cannot list spool", disk.list()))
      .filter((name) => name.endsWith(SEGMENT_SUFFIX) && !known.has(name));
    const claimed: Segment[] = [];
    for (const name of names) {
      // Our own active segment may have been created while listing.
      if (this.#segments().some((segment) => segment.name === name)) continue;
      const file = await onDisk("Cannot claim spool", disk.claim(name));
      if (file === null) continue;
      try {
        const bytes = await onDisk("Cannot read spool", file.read());
        const { deliveries, damage } = decodeRecords(bytes);
        const segment = newSegment(name, file);
        segment.records = deliveries.length;
        segment.bytes = bytes.length;
        claimed.push(segment);
        this.#report(segment, damage);
      } catch (error) {
        file.close();
        for (const segment of claimed) segment.file.close();
        throw error;
      }
    }
    this.#sealed.push(...claimed);
    this.#sealed.sort((a, b) => a.name < b.name ? -1 : 1);
  }

  #report(segment: Segment, damage: readonly Damage[]): void {
    if (segment.damageReported || damage.length === 0) return;
    segment.damageReported = true;
    for (const one of damage) {
      this.#options.onDamage({ segment: segment.name, ...one });
    }
  }
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
