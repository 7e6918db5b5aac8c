import { RECORD } from "../../core/wire/delivery_records.ts";
import type { Run } from "./scan_segment.ts";
import type { SegmentFile } from "./spool_disk.ts";

const SUFFIX = ".spool";

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

/** The first records of some bytes: at most so many, and whole ones. */
export function firstRecords(
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
