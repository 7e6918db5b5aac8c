/**
 * Work on the files of a spool from outside the process that writes them.
 *
 * @module
 */
export { lockOfSegment, lockSegment } from "./spool/segment_lock.ts";
