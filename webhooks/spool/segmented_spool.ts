import { free } from "../../core/bytes.ts";
import { errorCode } from "../../core/guards.ts";
import type { Delivery, UnansweredDelivery } from "../../core/wire/delivery.ts";
import {
  deliveryFields,
  noteFields,
  RECORD,
  RECORD_BYTES,
  type RecordFields,
} from "../../core/wire/delivery_records.ts";
import { type NoRoom, noRoomInSpool } from "../endpoint/body_room.ts";
import { type ClaimOptions, claimSegments } from "./claim_segments.ts";
import { diskError, onDisk } from "./spool_disk.ts";
import { RecordGroup } from "./_record_group.ts";
import { scanSegment } from "./scan_segment.ts";
import {
  bytesLeft,
  LEAST_BYTES,
  markIn,
  recordsFrom,
  roomIn,
  type Segment,
  SegmentSupply,
  type SupplyOptions,
  writerName,
} from "./segment.ts";
import {
  type Spool,
  SpoolError,
  type SpoolWriters,
  type TakeRecords,
} from "./spool.ts";

/** What a segmented spool needs; see `FileSpoolOptions` for the meanings. */
export interface SegmentedSpoolOptions extends SupplyOptions, ClaimOptions {
  readonly maxBytes: number;
  readonly now: () => number;
}

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
  readonly #supply: SegmentSupply;
  #gathering: RecordGroup;
  #writing: RecordGroup;
  #writer: Promise<void> | null = null;
  #draining: Promise<number> | null = null;
  #closed = false;
  #depth = 0;
  #bytes = 0;
  #largeBytes = 0;
  #writers: SpoolWriters;
  #onKept: () => void = () => {};

  private constructor(options: SegmentedSpoolOptions) {
    this.#options = options;
    this.#supply = new SegmentSupply(options);
    this.#gathering = new RecordGroup(options.mark);
    this.#writing = new RecordGroup(options.mark);
    this.#writers = {
      own: writerName(options.mark),
      takenOver: new Set(),
      others: new Set(),
      listedMs: -Infinity,
    };
  }

  static async open(options: SegmentedSpoolOptions): Promise<SegmentedSpool> {
    const spool = new SegmentedSpool(options);
    // One that cannot be claimed must not keep deliveries from being stored;
    // tidying tells of it.
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

  get writers(): SpoolWriters {
    return this.#writers;
  }

  readonly put = (delivery: Delivery): Promise<void> =>
    this.#keep(deliveryFields(delivery));

  readonly note = (unanswered: UnansweredDelivery): Promise<void> =>
    this.#keep(noteFields(unanswered));

  readonly noRoomFor = (bodyBytes: number): NoRoom | null => {
    const groups = [this.#gathering, this.#writing];
    return noRoomInSpool(bodyBytes, {
      maxBytes: this.#options.maxBytes,
      bytes: groups.reduce((sum, { bytes }) => sum + bytes.length, this.#bytes),
      largeBytes: groups.reduce(
        (sum, { largeBytes }) => sum + largeBytes,
        this.#largeBytes,
      ),
    });
  };

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
    const unclaimed = await this.#takeOver();
    await this.#tidyActive();
    if (unclaimed !== null) throw unclaimed;
  }

  async #tidyActive(): Promise<void> {
    const active = this.#active;
    if (this.#writer !== null || active === null) return;
    if (active.end > 0 && active.records === 0) {
      this.#active = null;
      await this.#release(active);
    } else if ((active.runs[0]?.from ?? 0) > 0) {
      // What was drained is overwritten once the rest is: bodies are personal
      // data, and while deliveries keep coming the segment is never empty.
      this.#active = null;
    }
  }

  async ready(): Promise<void> {
    this.#refuseWhenClosed();
    this.#refuseWhenFull(LEAST_BYTES);
    if (this.#active !== null && roomIn(this.#active) >= LEAST_BYTES) return;
    await onDisk("Cannot spool delivery", this.#supply.ready());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer;
    await this.#draining?.catch(() => {});
    await this.#supply.close();
    const segments = this.#segments;
    this.#segments = [];
    this.#active = null;
    for (const segment of segments) {
      const { records, file } = segment;
      if (records > 0) file.close();
      else await this.#supply.release(segment).catch(() => file.close());
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

  async #write({ bytes, count, largeBytes }: RecordGroup): Promise<void> {
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
    segment.largeBytes += largeBytes;
    this.#depth += count;
    this.#bytes += bytes.length;
    this.#largeBytes += largeBytes;
    const last = segment.runs.at(-1);
    if (last?.to === from) last.to = segment.end;
    else segment.runs.push({ from, to: segment.end });
    if (segment.end > segment.file.size / 2) this.#supply.prepare();
  }

  /** The segment to write to. */
  async #withRoom(bytes: number): Promise<Segment> {
    const active = this.#active;
    if (active !== null && bytes <= roomIn(active)) return active;
    const next = await this.#supply.take(bytes);
    this.#segments.push(next);
    this.#active = next;
    return next;
  }

  async #drainAll(
    take: TakeRecords,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    this.#refuseWhenClosed();
    // What comes meanwhile is left to the next time: it makes a larger group.
    const kept = this.#depth;
    let drained = 0;
    let failure: { readonly error: unknown } | null = null;
    for (const segment of [...this.#segments]) {
      for (let run = segment.runs[0]; run; run = segment.runs[0]) {
        if (this.#closed || signal?.aborted || drained >= kept) return drained;
        const group = recordsFrom(segment, run);
        if (group === null) {
          this.#findWhole(segment);
          continue;
        }
        const { bytes, count, largeBytes } = group;
        const groupBytes = bytes.length;
        await take(bytes, count);
        free(bytes);
        segment.records -= count;
        segment.largeBytes -= largeBytes;
        drained += count;
        this.#depth -= count;
        this.#bytes -= groupBytes;
        this.#largeBytes -= largeBytes;
        run.from += groupBytes;
        if (run.from === run.to) segment.runs.shift();
      }
      if (segment === this.#active) break;
      try {
        await onDisk("Cannot clear spool", this.#release(segment));
      } catch (error) {
        // What came later must not wait for it.
        failure ??= { error };
      }
    }
    if (failure !== null) throw failure.error;
    return drained;
  }

  /**
   * Finds what is still whole in a segment that was changed from outside.
   * Otherwise all that came after it would wait for ever.
   */
  #findWhole(segment: Segment): void {
    const { name, file, runs } = segment;
    const from = runs[0]?.from ?? 0;
    const to = runs.at(-1)?.to ?? from;
    const found = scanSegment(file.read(from, to), markIn(name) ?? 0);
    const recordsLost = segment.records - found.records;
    const bytesBefore = bytesLeft(segment);
    segment.runs.splice(
      0,
      runs.length,
      ...found.runs.map((run) => ({
        from: from + run.from,
        to: from + run.to,
      })),
    );
    const bytesLost = bytesBefore - bytesLeft(segment);
    this.#largeBytes -= segment.largeBytes - found.largeBytes;
    segment.records = found.records;
    segment.largeBytes = found.largeBytes;
    this.#depth -= recordsLost;
    this.#bytes -= bytesLost;
    // It is kept for a person to look at, and no more is written to it.
    segment.damaged = true;
    segment.end = file.size;
    this.#options.onDamage({
      segment: name,
      offset: from,
      bytes: bytesLost,
      torn: false,
    });
  }

  /** Releases a segment that was drained completely. */
  async #release(segment: Segment): Promise<void> {
    await this.#supply.release(segment);
    this.#segments = this.#segments.filter((one) => one !== segment);
  }

  /**
   * Claims the segments that no process holds.
   *
   * @returns Why one of them could not be; null where all were.
   */
  async #takeOver(): Promise<SpoolError | null> {
    const held = new Set(this.#segments.map(({ name }) => name));
    const listedMs = this.#options.now();
    const found = await claimSegments(held, this.#options);
    const { claimed, failure } = found;
    for (const segment of claimed) {
      this.#depth += segment.records;
      this.#bytes += bytesLeft(segment);
      this.#largeBytes += segment.largeBytes;
    }
    this.#segments.unshift(...claimed);
    const { own, takenOver } = this.#writers;
    this.#writers = {
      own,
      takenOver: takenOver.union(names(found.takenOver)),
      others: names(found.others),
      listedMs,
    };
    return failure;
  }
}

/** The processes that write with some marks. */
function names(marks: ReadonlySet<number>): Set<string> {
  return new Set([...marks].map(writerName));
}
