import { defined } from "../../core/defined.ts";
import type { Ledger, Transition } from "../../ledger/mod.ts";

/** Which transitions to read. */
export interface TransitionParams {
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** Only those of orders, or of users. */
  readonly entity?: "order" | "user";
  /** Only those of one order or user. */
  readonly id?: string;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Transitions of a feed, in the order in which they were logged. */
export interface TransitionsJson {
  /** The transitions. */
  readonly items: readonly Transition[];
  /** What to pass as `after` next: the feed has no last page. */
  readonly next: number;
}

/**
 * Reads the feed of transitions from a place on.
 *
 * @throws {RangeError} When the limit is wrong.
 */
export async function transitionsAfter(
  ledger: Ledger,
  params: TransitionParams,
): Promise<TransitionsJson> {
  const { after = 0 } = params;
  const items = await ledger.transitions(defined({ ...params, after }));
  return { items, next: items.at(-1)?.seq ?? after };
}
