/**
 * Work on the files of a spool from outside the process that writes them.
 *
 * @module
 */
export { isLeft, isSetAside } from "./spool/inbox_file.ts";
