import type { OrderState } from "../../states/order_state.ts";
import { STATE_COLUMNS } from "../../store/tables/orders.ts";

/** What the state of an order says, which stands in the same row as its fold. */
export type Said = Readonly<Record<string, unknown>>;

/** Stands for what the state says in the field of the same name. */
export const asSaid = 2;

/** What nothing is said beside. */
export const NOTHING_SAID: Said = {};

/** What a state says. */
export function saidBy(state: OrderState): Said {
  return state as unknown as Said;
}

/**
 * What a row says, as `orderFoldSql` selects it. It leaves out what is null,
 * which stands for nothing.
 */
export function saidByRow(columns: readonly unknown[], stored: Said): Said {
  const said: Record<string, unknown> = stored;
  for (let place = 0; place < STATE_COLUMNS.length; place++) {
    said[STATE_COLUMNS[place] as string] = columns[place];
  }
  return said;
}
