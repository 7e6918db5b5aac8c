/**
 * What tests of other modules may use of the endpoint, beside its doors.
 *
 * @module
 */
export { scanSegment } from "../spool/scan_segment.ts";
export { markIn } from "../spool/segment.ts";
export { SegmentedSpool } from "../spool/segmented_spool.ts";
export type { SegmentFile, SpoolDisk } from "../spool/spool_disk.ts";
