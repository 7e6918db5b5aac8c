/**
 * What commands, API and console say of chain nodes. It leads to no database.
 *
 * @module
 */
export type { NodeState } from "./node_watch.ts";
export type { NodeProblem } from "./transfer.ts";
