import { hex } from "@scure/base";
import { RECORD } from "../../core/wire/delivery_records.ts";
import {
  diskError,
  onDisk,
  type SegmentFile,
  type SpoolDisk,
} from "./spool_disk.ts";
import { type Damage, scanSegment } from "./scan_segment.ts";
import { markIn, newSegment, type Segment } from "./segment.ts";
import type { SpoolError } from "./spool.ts";

/** Damage, and the segment it is in. */
export interface SegmentDamage extends Damage {
  /** Name of the segment's file. */
  readonly segment: string;
}

/** What segments are claimed with. */
export interface ClaimOptions {
  readonly disk: SpoolDisk;
  /** The mark of this process's own segments, which are not claimed. */
  readonly mark: number;
  readonly onDamage: (damage: SegmentDamage) => void;
}

/** Result of claiming. */
export interface ClaimedSegments {
  /** The claimed ones, oldest first. */
  readonly claimed: readonly Segment[];
  /** Why the first of the others could not be claimed; null without others. */
  readonly failure: SpoolError | null;
  /** Marks of which something was claimed, and nothing could not be. */
  readonly takenOver: ReadonlySet<number>;
  /** Marks of segments that other processes hold, or that were not claimed. */
  readonly others: ReadonlySet<number>;
}

const UNFINISHED_SUFFIX = ".spool.new";

/**
 * Claims and scans the segments that no process holds: those of processes that
 * died. One that cannot be claimed or read stays where it is, and does not
 * stop the others.
 *
 * @param held Names of those that were claimed before.
 * @throws {SpoolError} When the directory cannot be listed.
 */
export async function claimSegments(
  held: ReadonlySet<string>,
  { disk, mark, onDamage }: ClaimOptions,
): Promise<ClaimedSegments> {
  const claimed: { readonly segment: Segment; readonly first: string }[] = [];
  let failure: SpoolError | null = null;
  const takenOver = new Set<number>();
  const failed = new Set<number>();
  const others = new Set<number>();
  for (const name of await onDisk("Cannot list spool", disk.list())) {
    if (name.endsWith(UNFINISHED_SUFFIX)) await removeUnclaimed(disk, name);
    const itsMark = markIn(name);
    if (itsMark === null || itsMark === mark || held.has(name)) continue;
    let file: SegmentFile | null = null;
    try {
      file = await disk.claim(name);
      if (file === null) {
        others.add(itsMark);
        continue;
      }
      const segment = newSegment(name, file);
      const bytes = file.read(0, file.size);
      const { runs, records, largeBytes, damage } = scanSegment(bytes, itsMark);
      segment.runs.push(...runs);
      segment.records = records;
      segment.largeBytes = largeBytes;
      segment.damaged = damage.some(({ torn }) => !torn);
      for (const one of damage) onDamage({ segment: name, ...one });
      const from = (runs[0]?.from ?? 0) + RECORD.id;
      claimed.push({
        segment,
        first: hex.encode(bytes.slice(from, from + 16)),
      });
      takenOver.add(itsMark);
    } catch (error) {
      file?.close();
      failed.add(itsMark);
      failure ??= diskError(`Cannot claim ${name} of the spool`, error);
    }
  }
  // A name may be older than the records, because segments are used again.
  claimed.sort((a, b) => a.first < b.first ? -1 : 1);
  return {
    claimed: claimed.map(({ segment }) => segment),
    failure,
    takenOver: takenOver.difference(failed),
    others: others.union(failed),
  };
}

/** Removes a segment that a process died of making. */
async function removeUnclaimed(disk: SpoolDisk, name: string): Promise<void> {
  const file = await disk.claim(name).catch(() => null);
  if (file === null) return;
  await disk.remove(name).catch(() => {});
  file.close();
}
