/**
 * What a process that runs for long needs of the witness besides `mod.ts`: how
 * each chain node is.
 *
 * @module
 */
export { NodeWatch } from "./node_watch.ts";
export { probeNodes } from "./probe_nodes.ts";
