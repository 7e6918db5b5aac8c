import type { Statement } from "../store/driver.ts";
import { recordedWalk } from "./walk_window.ts";
import {
  callOptions,
  recordOrders,
  recordUsers,
  type Sweep,
  type SweepContext,
} from "./sweep.ts";
import { ITEMS_PER_REQUEST } from "./staleness.ts";
import type { Entity } from "./observations.ts";

/** Longest id worth asking for: the service's own have 26 characters. */
const longestId = 128;

/** What the service said about ids it was asked for. */
export interface Asked {
  /** Status of each order it showed, as sent; users have none. */
  readonly shown: ReadonlyMap<string, string | null>;
  /** When we asked first, by our clock, in milliseconds since the epoch. */
  readonly askedAtMs: number;
  /** When it answered last, by its own clock where it states it. */
  readonly readAt: string;
  /** Whether what was not shown is not there: the walk reached its end. */
  readonly exhausted: boolean;
}

/**
 * Whether an id can be asked for: anybody may post a webhook with any id, and
 * one with a comma would split into two.
 *
 * @param id An order or user id.
 *
 * @example A forged id
 * ```ts ignore
 * isAskable("a,b"); // false
 * ```
 */
export function isAskable(id: string): boolean {
  return id.length <= longestId && /^[\x21-\x7e]+$/.test(id) &&
    !id.includes(",");
}

/**
 * Asks for orders or users by id and records what comes back; what an
 * exhausted walk did not show is recorded as absent.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param ids At most 20 of them, all askable.
 * @param finish Makes statements for the batch that ends the work.
 * @throws {RangeError} When there are more than 20 ids, or none.
 *
 * @example Ask for two orders
 * ```ts ignore
 * const asked = yield* askById(context, "order", ["01J…", "01K…"]);
 * ```
 */
export async function* askById(
  context: SweepContext,
  entity: Entity,
  ids: readonly string[],
  finish: (asked: Asked) => readonly Statement[] = () => [],
): Sweep<Asked> {
  if (ids.length === 0 || ids.length > ITEMS_PER_REQUEST) {
    throw new RangeError(
      `Cannot ask for ${ids.length} ids at once: 1 to ${ITEMS_PER_REQUEST} fit a request`,
    );
  }
  const askedAtMs = context.now();
  const shown = new Map<string, string | null>();
  let readAt = new Date(askedAtMs).toISOString();
  let exhausted = true;
  if (entity === "order") {
    const walk = recordedWalk(
      context,
      context.client.orders.list(
        { search_by: ids, limit: ITEMS_PER_REQUEST },
        callOptions(context),
      ),
      recordOrders,
    );
    for await (const page of walk.pages) {
      for (const order of page.data) shown.set(order.order_id, order.status);
      readAt = page.readAt;
      yield 1;
    }
    exhausted = walk.completeness().exhausted;
  } else {
    // Ids are distinct, so one page holds all that the service knows.
    const page = await context.client.users.page(
      { user_ids: ids, limit: ITEMS_PER_REQUEST },
      callOptions(context),
    );
    await recordUsers(context, page, askedAtMs);
    for (const user of page.data) shown.set(user.user_id, null);
    readAt = page.readAt;
    yield 1;
  }
  const asked = { shown, askedAtMs, readAt, exhausted };
  const missing = exhausted ? ids.filter((id) => !shown.has(id)) : [];
  const { appended } = await context.recorder.record(
    entity,
    { sources: [], states: [], missing, readAt, askedAtMs },
    finish(asked),
  );
  context.onRead({ orders: 0, users: 0, appended });
  return asked;
}
