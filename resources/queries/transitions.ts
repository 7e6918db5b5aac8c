import { jsonBytes } from "../../core/bytes.ts";
import { defined } from "../../core/guards.ts";
import { fitting } from "../../ledger/for_resources.ts";
import type { Ledger, OrderView, Transition } from "../../ledger/mod.ts";

/** Which transitions to read. */
export interface TransitionParams {
  /** Only those after this `seq`. @default 0 */
  readonly after?: number;
  /** Only those of orders, or of users. */
  readonly entity?: "order" | "user";
  /** Only those of one order or user. */
  readonly id?: string;
  /** Only those of which this is true. */
  readonly on?: (transition: Transition) => boolean;
  /** At most this many, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** A transition, and what is decided of its order now. */
export interface FeedEntry extends Transition {
  /** Whether to release the goods by what is known now; null of a user. */
  readonly release: OrderView["release"] | null;
  /** Why, one code; null of a user. */
  readonly releaseReason: OrderView["releaseReason"] | null;
}

/** Transitions of a feed, in the order in which they were logged. */
export interface TransitionsJson {
  /** The transitions. */
  readonly items: readonly FeedEntry[];
  /** What to pass as `after` next: the feed has no last page. */
  readonly next: number;
}

/** Transitions read at once where most may be passed over. */
const LOOKED_THROUGH_AT_ONCE = 1000;

/**
 * Reads the feed of transitions from a place on. Where `on` passes over many,
 * a call reads a thousand, and `next` says how far it came: with a `next` that
 * is greater than `after`, there may be more.
 *
 * @throws {RangeError} When the limit is wrong.
 */
export async function transitionsAfter(
  ledger: Ledger,
  params: TransitionParams,
): Promise<TransitionsJson> {
  const { after = 0, entity, id, on = () => true, limit = 100 } = params;
  const isFiltered = params.on !== undefined ||
    // Of one order or user they are few; of all users they may be millions.
    (entity !== undefined && id === undefined);
  const read = await ledger.transitions(defined({
    after,
    id,
    entity: id === undefined ? undefined : entity,
    limit: isFiltered ? LOOKED_THROUGH_AT_ONCE : limit,
  }));
  const found = read.filter((one) =>
    (entity === undefined || one.entity === entity) && on(one)
  );
  const entries = await withReleases(ledger, found.slice(0, limit));
  const items = fitting(entries, jsonBytes);
  // Cut, the feed goes on after the last that is given.
  const next = items.length === limit || items.length < found.length
    ? items.at(-1)
    : read.at(-1);
  return { items, next: next?.seq ?? after };
}

/** States beside each transition what is decided of its order now. */
async function withReleases(
  ledger: Ledger,
  transitions: readonly Transition[],
): Promise<FeedEntry[]> {
  const orders = transitions.filter(({ entity }) => entity === "order");
  const ids = [...new Set(orders.map(({ id }) => id))];
  const releases = await ledger.orders.getMany(ids);
  return transitions.map((one) => {
    const now = one.entity === "order" ? releases.get(one.id) : undefined;
    return {
      ...one,
      release: now?.release ?? null,
      releaseReason: now?.releaseReason ?? null,
    };
  });
}
