/**
 * What a process that runs for long needs of the witness besides `mod.ts`: the
 * health of each chain node.
 *
 * @module
 */
export { NodeWatch } from "./node_watch.ts";
export { probeNodes } from "./probe_nodes.ts";
