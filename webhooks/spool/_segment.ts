import type { SegmentFile } from "./_spool_disk.ts";

/** A segment file that this process writes or drains. */
export interface Segment {
  readonly name: string;
  readonly file: SegmentFile;
  /** Records that were acknowledged, or found when it was claimed. */
  records: number;
  /** Records that `append` took. */
  drained: number;
  bytes: number;
  /** The group now being written, if any. */
  writing: Promise<void> | null;
  damageReported: boolean;
}

/** A segment without records. */
export function newSegment(name: string, file: SegmentFile): Segment {
  return {
    name,
    file,
    records: 0,
    drained: 0,
    bytes: 0,
    writing: null,
    damageReported: false,
  };
}
