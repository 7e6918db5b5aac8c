import type { Move } from "../machines/machine.ts";
import {
  type OrderMachine,
  orderMachine,
  type OrderMoveAnomaly,
} from "../machines/order_machine.ts";
import { isKnown } from "../machines/order_rank.ts";
import type { Status } from "../machines/status.ts";

const same: Move<never> = { kind: "same", anomaly: null };

/**
 * What the table of the machine says of two statuses that follow each other in
 * the service's own history.
 *
 * @param from Status of a reading.
 * @param to Status of the next one.
 * @returns How usual the move is, and the anomaly that it raises.
 *
 * @example A success that is taken back
 * ```ts
 * import { orderMove } from "./order_move.ts";
 * import assert from "node:assert/strict";
 *
 * assert.deepEqual(orderMove("success", "cancelled"), {
 *   kind: "unusual",
 *   anomaly: "final_changed",
 * });
 * ```
 */
export function orderMove(from: Status, to: Status): Move<OrderMoveAnomaly> {
  const [row, column] = [rowOf(from), rowOf(to)];
  // The row of unlisted statuses is about two of them.
  if (row === "unlisted" && from === to) return same;
  return orderMachine.moves[row][column];
}

function rowOf(status: Status): keyof OrderMachine["moves"] {
  return isKnown(status) ? status : "unlisted";
}
