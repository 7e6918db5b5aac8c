import { hex } from "@scure/base";
import { errorCode } from "../../core/guards.ts";
import type { Delivery, UnansweredDelivery } from "../../core/wire/delivery.ts";
import {
  deliveryFields,
  noteFields,
  RECORD,
  RECORD_BYTES,
  type RecordFields,
} from "../../core/wire/delivery_records.ts";
import { diskError, onDisk } from "./_disk_error.ts";
import { RecordGroup } from "./_record_group.ts";
import { type Damage, scanSegment } from "./scan_segment.ts";
import {
  bytesLeft,
  firstRecords,
  markIn,
  newSegment,
  roomIn,
  type Segment,
  segmentName,
} from "./segment.ts";
import { fillWithZeros, type SpoolDisk } from "./spool_disk.ts";
import type { Spool, TakeRecords } from "./spool.ts";
import { SpoolError } from "./spool_error.ts";

/** Damage, and the segment it is in. */
export interface SegmentDamage extends Damage {
  /** Name of the segment's file. */
  readonly segment: string;
}

/** What a segmented spool needs; see `FileSpoolOptions` for the meanings. */
export interface SegmentedSpoolOptions {
  readonly disk: SpoolDisk;
  readonly newId: () => string;
  /** Random, and not zero: the beginning of each record. */
  readonly mark: number;
  readonly maxBytes: number;
  readonly segmentBytes: number;
  readonly onDamage: (damage: SegmentDamage) => void;
}

const DAMAGED_SUFFIX = ".damaged";
const UNFINISHED_SUFFIX = ".spool.new";
/** Most records, and about the most bytes, that are handed over at once. */
const MOST_RECORDS = 1_024;
const MOST_BYTES = 1 << 20;
/** A segment that is not even this large is worth none. */
const LEAST_BYTES = 64 * 1024;

/**
 * A spool of segment files, which are full of zeros before they are written. A
 * process writes only to segments that it created, and drains only segments
 * that it holds; it takes over those of processes that died.
 */
export class SegmentedSpool implements Spool {
  readonly #options: SegmentedSpoolOptions;
  /** Segments with records, oldest first. */
  #segments: Segment[] = [];
  /** The one that is written to; it is the last of the segments. */
  #active: Segment | null = null;
  /** The next one to be written to; null when it could not be made. */
  #spare: Promise<Segment | null> | null = null;
  #gathering: RecordGroup;
  #writing: RecordGroup;
  #writer: Promise<void> | null = null;
  #draining: Promise<number> | null = null;
  #closed = false;
  #depth = 0;
  #bytes = 0;
  #onKept: () => void = () => {};

  private constructor(options: SegmentedSpoolOptions) {
    this.#options = options;
    this.#gathering = new RecordGroup(options.mark);
    this.#writing = new RecordGroup(options.mark);
  }

  static async open(options: SegmentedSpoolOptions): Promise<SegmentedSpool> {
    const spool = new SegmentedSpool(options);
    await spool.#takeOver();
    return spool;
  }

  get depth(): number {
    return this.#depth;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get oldestMs(): number | null {
    for (const { runs: [run], file } of this.#segments) {
      if (run === undefined) continue;
      const head = file.read(run.from, run.from + RECORD_BYTES);
      return new DataView(head.buffer).getFloat64(RECORD.time, true);
    }
    return null;
  }

  readonly put = (delivery: Delivery): Promise<void> =>
    this.#keep(deliveryFields(delivery));

  readonly note = (unanswered: UnansweredDelivery): Promise<void> =>
    this.#keep(noteFields(unanswered));

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

  async tidy(): Promise<void> {
    if (this.#closed || this.#draining !== null) return;
    await this.#takeOver();
    const active = this.#active;
    if (this.#writer !== null || active === null) return;
    if (active.end > 0 && active.records === 0) {
      this.#active = null;
      await this.#release(active);
    }
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
    this.#refuseWhenFull(LEAST_BYTES);
    const spare = this.#spare;
    if (this.#active !== null && roomIn(this.#active) >= LEAST_BYTES) return;
    if (await spare) return;
    if (spare !== this.#spare) return;
    const making = this.#create();
    this.#spare = making.catch(() => null);
    await onDisk("Cannot spool delivery", making);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer;
    await this.#draining?.catch(() => {});
    const spare = await this.#spare;
    const segments = this.#segments;
    this.#segments = [];
    this.#active = null;
    if (spare) segments.push(spare);
    for (const segment of segments) {
      if (segment.records === 0) await this.#discard(segment).catch(() => {});
      else segment.file.close();
    }
  }

  #refuseWhenClosed(): void {
    if (!this.#closed) return;
    throw new SpoolError("closed", "Cannot use spool: it was closed");
  }

  // Not async: each delivery costs one promise.
  #keep(fields: RecordFields): Promise<void> {
    try {
      this.#refuseWhenClosed();
      this.#refuseWhenFull(fields.body.length + RECORD_BYTES);
      const kept = this.#gathering.add(fields);
      this.#writer ??= this.#writeGathered();
      return kept;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #refuseWhenFull(more: number): void {
    const { maxBytes } = this.#options;
    const bytes = this.#bytes + this.#writing.bytes.length +
      this.#gathering.bytes.length + more;
    if (bytes <= maxBytes) return;
    throw new SpoolError(
      "full",
      `Cannot spool delivery: ${bytes} bytes would be kept, of ${maxBytes} ` +
        "allowed; bring the ledger back, or raise maxBytes",
    );
  }

  /** Writes what was gathered, a group at a time: one sync for each group. */
  async #writeGathered(): Promise<void> {
    while (this.#gathering.count > 0) {
      const group = this.#gathering;
      this.#gathering = this.#writing;
      this.#writing = group;
      try {
        await this.#writeAnywhere(group);
        group.settle(null);
        this.#onKept();
      } catch (error) {
        group.settle(diskError("Cannot spool delivery", error));
      }
    }
    this.#writer = null;
  }

  /** Writes to a new segment when the one in use turns out to be removed. */
  async #writeAnywhere(group: RecordGroup): Promise<void> {
    try {
      await this.#write(group);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
      await this.#write(group);
    }
  }

  async #write({ bytes, count }: RecordGroup): Promise<void> {
    const segment = await this.#withRoom(bytes.length);
    const from = segment.end;
    try {
      segment.file.write(bytes, from);
      await segment.file.sync();
    } catch (error) {
      // After a failed write or sync the contents of the file are not known:
      // no more is written to it.
      segment.end = from + bytes.length;
      this.#active = null;
      throw error;
    }
    segment.end = from + bytes.length;
    segment.records += count;
    this.#depth += count;
    this.#bytes += bytes.length;
    const last = segment.runs.at(-1);
    if (last?.to === from) last.to = segment.end;
    else segment.runs.push({ from, to: segment.end });
    if (segment.end > segment.file.size / 2) {
      this.#spare ??= this.#create().catch(() => null);
    }
  }

  /** The segment to write to. */
  async #withRoom(bytes: number): Promise<Segment> {
    const active = this.#active;
    if (active !== null && bytes <= roomIn(active)) return active;
    const next = await this.#takeSpare(bytes) ?? await this.#create(bytes);
    this.#segments.push(next);
    this.#active = next;
    return next;
  }

  /** The spare segment, if there is one with room. */
  async #takeSpare(bytes: number): Promise<Segment | null> {
    const spare = await this.#spare;
    if (!spare) this.#spare = null;
    if (!spare || spare.file.size < bytes) return null;
    this.#spare = null;
    return spare;
  }

  /** A new segment, smaller where the disk has no room for a whole one. */
  async #create(leastBytes = 0): Promise<Segment> {
    const { disk, newId, mark, segmentBytes } = this.#options;
    let size = Math.max(segmentBytes, leastBytes);
    for (;;) {
      const name = segmentName(newId(), mark);
      try {
        return newSegment(name, await disk.create(name, size));
      } catch (error) {
        size = size >> 1;
        if (size < Math.max(leastBytes, LEAST_BYTES)) throw error;
      }
    }
  }

  async #drainAll(
    take: TakeRecords,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    this.#refuseWhenClosed();
    // What comes meanwhile is left to the next time: it makes a larger group.
    const kept = this.#depth;
    let drained = 0;
    for (;;) {
      const [segment] = this.#segments;
      if (segment === undefined) return drained;
      for (let run = segment.runs[0]; run; run = segment.runs[0]) {
        if (this.#closed || signal?.aborted || drained >= kept) return drained;
        const { bytes, count } = recordsFrom(segment, run);
        await take(bytes, count);
        segment.records -= count;
        drained += count;
        this.#depth -= count;
        this.#bytes -= bytes.length;
        run.from += bytes.length;
        if (run.from === run.to) segment.runs.shift();
      }
      if (segment === this.#active) return drained;
      await onDisk("Cannot clear spool", this.#release(segment));
    }
  }

  /** Lets go of a segment of which all was drained. */
  async #release(segment: Segment): Promise<void> {
    const { segmentBytes, mark, disk } = this.#options;
    if (segment.damaged) {
      await disk.rename(segment.name, segment.name + DAMAGED_SUFFIX);
      segment.file.close();
    } else if (
      this.#spare === null && !this.#closed && markIn(segment.name) === mark &&
      segment.file.size === segmentBytes
    ) {
      this.#spare = this.#recycle(segment);
    } else await this.#discard(segment);
    this.#segments = this.#segments.filter((one) => one !== segment);
  }

  async #discard(segment: Segment): Promise<void> {
    await this.#options.disk.remove(segment.name);
    segment.file.close();
  }

  /** Empties a segment for the next use. Bodies are personal data as well. */
  async #recycle(segment: Segment): Promise<Segment | null> {
    try {
      fillWithZeros(segment.file, segment.end);
      await segment.file.sync();
      return newSegment(segment.name, segment.file);
    } catch {
      await this.#discard(segment).catch(() => {});
      return null;
    }
  }

  /** Claims the segments that no process holds. */
  async #takeOver(): Promise<void> {
    const { disk, mark } = this.#options;
    const claimed: { readonly segment: Segment; readonly first: string }[] = [];
    for (const name of await onDisk("Cannot list spool", disk.list())) {
      if (name.endsWith(UNFINISHED_SUFFIX)) await removeUnclaimed(disk, name);
      const itsMark = markIn(name);
      if (itsMark === null || itsMark === mark) continue;
      if (this.#segments.some((one) => one.name === name)) continue;
      const file = await onDisk("Cannot claim spool", disk.claim(name));
      if (file === null) continue;
      const segment = newSegment(name, file);
      try {
        const bytes = file.read(0, file.size);
        const { runs, records, damage } = scanSegment(bytes, itsMark);
        segment.runs.push(...runs);
        segment.records = records;
        segment.damaged = damage.some(({ torn }) => !torn);
        for (const one of damage) {
          this.#options.onDamage({ segment: name, ...one });
        }
        const from = (runs[0]?.from ?? 0) + RECORD.id;
        claimed.push({
          segment,
          first: hex.encode(bytes.slice(from, from + 16)),
        });
      } catch (error) {
        for (const one of [segment, ...claimed.map((one) => one.segment)]) {
          one.file.close();
        }
        throw diskError("Cannot read spool", error);
      }
    }
    // A name may be older than the records, because segments are used again.
    claimed.sort((a, b) => a.first < b.first ? -1 : 1);
    for (const { segment } of claimed) {
      this.#depth += segment.records;
      this.#bytes += bytesLeft(segment);
    }
    this.#segments.unshift(...claimed.map(({ segment }) => segment));
  }
}

/** Removes a segment that a process died of making. */
async function removeUnclaimed(disk: SpoolDisk, name: string): Promise<void> {
  const file = await disk.claim(name).catch(() => null);
  if (file === null) return;
  await disk.remove(name).catch(() => {});
  file.close();
}

/** The first records of a run: at least one, however large. */
function recordsFrom(
  { file }: Segment,
  { from, to }: { readonly from: number; readonly to: number },
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number } {
  let bytes = file.read(from, Math.min(to, from + MOST_BYTES));
  let { end, count } = firstRecords(bytes, MOST_RECORDS);
  if (count === 0) {
    const view = new DataView(bytes.buffer);
    bytes = file.read(from, from + view.getUint32(RECORD.length, true));
    ({ end, count } = firstRecords(bytes, 1));
  }
  if (count === 0) throw new Error(`A record at ${from} cannot be read`);
  // A view would be copied to another thread with everything around it.
  return { bytes: end === bytes.length ? bytes : bytes.slice(0, end), count };
}
