import {
  RECORD,
  RECORD_BYTES,
  RECORD_END,
} from "../../core/wire/delivery_records.ts";
import { checksum, largeBytesOf } from "./_record_group.ts";

/** Bytes of a segment that are not a record. */
export interface Damage {
  /** Where they begin. */
  readonly offset: number;
  /** How many there are. */
  readonly bytes: number;
  /** Whether it is a record whose writing, or clearing, was cut short. */
  readonly torn: boolean;
}

/** Records that follow each other. */
export interface Run {
  /** Where the first begins. */
  from: number;
  /** Where the last ends. */
  to: number;
}

/** What is in a segment. */
export interface Scan {
  readonly runs: Run[];
  readonly records: number;
  /** Bytes of those with large bodies. */
  readonly largeBytes: number;
  readonly damage: Damage[];
}

/**
 * Finds every record of a segment, whatever else is in it. A segment is full of
 * zeros where nothing was written yet. The mark is random, and no sender knows
 * it, so nothing in a body looks like the beginning of a record, even when the
 * record around it is damaged.
 */
export function scanSegment(segment: Uint8Array, mark: number): Scan {
  const view = new DataView(
    segment.buffer,
    segment.byteOffset,
    segment.byteLength,
  );
  const end = segment.findLastIndex((byte) => byte !== 0) + 1;
  const runs: Run[] = [];
  const damage: Damage[] = [];
  let records = 0;
  let largeBytes = 0;
  for (let at = 0; at < end;) {
    const length = recordAt(segment, view, at, mark);
    if (length > 0) {
      const last = runs.at(-1);
      if (last?.to === at) last.to = at + length;
      else runs.push({ from: at, to: at + length });
      records++;
      largeBytes += largeBytesOf(length);
      at += length;
      continue;
    }
    let next = at + 1;
    while (next < end && recordAt(segment, view, next, mark) === 0) next++;
    damage.push({
      offset: at,
      bytes: next - at,
      // A segment is cleared from its beginning, once all of it was drained.
      torn: at === 0 && segment[0] === 0 && segment[1] === 0 ||
        next === end && isCutShort(view, at, end, mark),
    });
    at = next;
  }
  return { runs, records, largeBytes, damage };
}

/** The length of the record at an offset; zero when there is none. */
export function recordAt(
  segment: Uint8Array,
  view: DataView,
  at: number,
  mark: number,
): number {
  if (at + RECORD_BYTES > segment.length) return 0;
  if (view.getUint32(at + RECORD.mark, true) !== mark) return 0;
  const length = view.getUint32(at + RECORD.length, true);
  const end = at + length;
  if (length < RECORD_BYTES || end > segment.length) return 0;
  if (segment[end - 1] !== RECORD_END) return 0;
  const stated = view.getUint32(at + RECORD.checksum, true);
  return stated === checksum(mark, segment.subarray(at, end)) ? length : 0;
}

/** Whether the last bytes of a segment are a record without its end. */
function isCutShort(
  view: DataView,
  at: number,
  end: number,
  mark: number,
): boolean {
  if (at + RECORD.checksum > view.byteLength) return true;
  if (at + RECORD.length >= end) return true;
  if (view.getUint32(at + RECORD.mark, true) !== mark) return false;
  return at + view.getUint32(at + RECORD.length, true) > end;
}
