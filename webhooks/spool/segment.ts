import { RECORD, RECORD_BYTES } from "../../core/wire/delivery_records.ts";
import { largeBytesOf } from "./_record_group.ts";
import { recordAt, type Run } from "./scan_segment.ts";
import {
  fillWithZeros,
  type SegmentFile,
  type SpoolDisk,
} from "./spool_disk.ts";

const SUFFIX = ".spool";
/** Most records, and about the most bytes, that are handed over at once. */
const MOST_RECORDS = 1_024;
const MOST_BYTES = 1 << 20;

/** A segment file that this process writes or drains. */
export interface Segment {
  readonly name: string;
  readonly file: SegmentFile;
  /** Where the records are that are not drained yet, oldest first. */
  readonly runs: Run[];
  /** How many they are. */
  records: number;
  /** Bytes of those with large bodies. */
  largeBytes: number;
  /** Where the next record is written. */
  end: number;
  /** Whether it is kept when it was drained, for a person to look at. */
  damaged: boolean;
}

/** A segment without records. */
export function newSegment(name: string, file: SegmentFile): Segment {
  return {
    name,
    file,
    runs: [],
    records: 0,
    largeBytes: 0,
    end: 0,
    damaged: false,
  };
}

/** Bytes of a segment that are not drained. */
export function bytesLeft({ runs }: Segment): number {
  return runs.reduce((sum, { from, to }) => sum + to - from, 0);
}

/** Bytes that can still be written to a segment. */
export function roomIn({ file, end }: Segment): number {
  return file.size - end;
}

/** The name of a segment, which holds the mark of its records. */
function segmentName(id: string, mark: number): string {
  return `${id}-${writerName(mark)}${SUFFIX}`;
}

/** The name of the process that writes with a mark. */
export function writerName(mark: number): string {
  return mark.toString(16).padStart(8, "0");
}

/** The mark in the name of a segment; null when it is not a segment's name. */
export function markIn(name: string): number | null {
  const [, mark] = /-([0-9a-f]{8})\.spool$/.exec(name) ?? [];
  return mark === undefined ? null : parseInt(mark, 16);
}

/** The first records of a run. */
export interface FirstRecords {
  /** The records. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** How many they are. */
  readonly count: number;
  /** Bytes of those with large bodies. */
  readonly largeBytes: number;
}

/**
 * The first records of a run: at least one, however large. Null when the first
 * is not what was written there: then the file was changed from outside.
 */
export function recordsFrom(
  { name, file }: Segment,
  { from, to }: Readonly<Run>,
): FirstRecords | null {
  const mark = markIn(name) ?? 0;
  let bytes = file.read(from, Math.min(to, from + MOST_BYTES));
  let first = firstRecords(bytes, mark, MOST_RECORDS);
  if (first.count === 0 && bytes.length >= RECORD_BYTES) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint32(RECORD.length, true);
    if (length <= bytes.length || from + length > to) return null;
    bytes = file.read(from, from + length);
    first = firstRecords(bytes, mark, 1);
  }
  const { end, count, largeBytes } = first;
  if (count === 0) return null;
  // A view would be copied to another thread with everything around it.
  if (end < bytes.length) bytes = bytes.slice(0, end);
  return { bytes, count, largeBytes };
}

/** The first whole records of some bytes, at most `most` of them. */
function firstRecords(
  bytes: Uint8Array<ArrayBuffer>,
  mark: number,
  most: number,
): { readonly end: number } & Pick<FirstRecords, "count" | "largeBytes"> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = 0;
  let count = 0;
  let largeBytes = 0;
  while (count < most) {
    const length = recordAt(bytes, view, end, mark);
    if (length === 0) break;
    end += length;
    count++;
    largeBytes += largeBytesOf(length);
  }
  return { end, count, largeBytes };
}

/** What segments are made with. */
export interface SupplyOptions {
  readonly disk: SpoolDisk;
  readonly newId: () => string;
  /** Random, and not zero: the beginning of each record. */
  readonly mark: number;
  /** Bytes of a segment. */
  readonly segmentBytes: number;
}

const DAMAGED_SUFFIX = ".damaged";
/** A smaller segment is not worth making, in bytes. */
export const LEAST_BYTES = 64 * 1024;

/** Makes the segments that are written next, and releases drained ones. */
export class SegmentSupply {
  readonly #options: SupplyOptions;
  /** The next one; null when it could not be made. */
  #spare: Promise<Segment | null> | null = null;
  #closed = false;

  /** Creates a supply; makes no segment yet. */
  constructor(options: SupplyOptions) {
    this.#options = options;
  }

  /** Makes the next segment, so that no delivery waits for it. */
  prepare(): void {
    this.#spare ??= this.#create().catch(() => null);
  }

  /** Makes sure that there is a next segment; throws why there is none. */
  async ready(): Promise<void> {
    const spare = this.#spare;
    if (await spare || spare !== this.#spare) return;
    const making = this.#create();
    this.#spare = making.catch(() => null);
    await making;
  }

  /** A segment with room for this many bytes. */
  async take(bytes: number): Promise<Segment> {
    const spare = await this.#spare;
    if (!spare) this.#spare = null;
    if (!spare || roomIn(spare) < bytes) return await this.#create(bytes);
    this.#spare = null;
    return spare;
  }

  /** Releases a segment that was drained completely. */
  async release(segment: Segment): Promise<void> {
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
  }

  /** Removes the next segment, and makes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    const spare = await this.#spare;
    this.#spare = null;
    if (spare) await this.#discard(spare).catch(() => spare.file.close());
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

  /** Empties a segment for the next use. Bodies are personal data as well. */
  async #recycle(segment: Segment): Promise<Segment | null> {
    try {
      await fillWithZeros(segment.file, segment.end);
      await segment.file.sync();
      return newSegment(segment.name, segment.file);
    } catch {
      await this.#discard(segment).catch(() => {});
      return null;
    }
  }

  async #discard(segment: Segment): Promise<void> {
    await this.#options.disk.remove(segment.name);
    segment.file.close();
  }
}
