/**
 * What works on the files of a spool beside those that write them.
 *
 * @module
 */
export { lockOfSegment, lockSegment } from "./spool/segment_lock.ts";
