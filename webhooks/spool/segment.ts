import { RECORD } from "../../core/wire/delivery_records.ts";
import type { Run } from "./scan_segment.ts";
import type { SegmentFile } from "./spool_disk.ts";

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
  /** Where the next record is written. */
  end: number;
  /** Whether it is kept when it was drained, for a person to look at. */
  damaged: boolean;
}

/** A segment without records. */
export function newSegment(name: string, file: SegmentFile): Segment {
  return { name, file, runs: [], records: 0, end: 0, damaged: false };
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
export function segmentName(id: string, mark: number): string {
  return `${id}-${mark.toString(16).padStart(8, "0")}${SUFFIX}`;
}

/** The mark in the name of a segment; null when it is not a segment's name. */
export function markIn(name: string): number | null {
  const [, mark] = /-([0-9a-f]{8})\.spool$/.exec(name) ?? [];
  return mark === undefined ? null : parseInt(mark, 16);
}

/** The first records of a run: at least one, however large. */
export function recordsFrom(
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

/** The first records of some bytes: at most so many, and whole ones. */
function firstRecords(
  bytes: Uint8Array<ArrayBuffer>,
  most: number,
): { readonly end: number; readonly count: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = 0;
  let count = 0;
  while (count < most && end + RECORD.checksum <= bytes.length) {
    const next = end + view.getUint32(end + RECORD.length, true);
    if (next > bytes.length) break;
    end = next;
    count++;
  }
  return { end, count };
}
