import type { Completeness, Page } from "../../client/page.ts";
import type { PollWalk } from "./poll_client.ts";
import {
  callOptions,
  latestCreation,
  recordOrders,
  recordUsers,
  type Sweep,
  type SweepContext,
} from "./sweep.ts";
import { filterTime, isDense, type TimeWindow } from "./windows.ts";
import type { Entity } from "./observations.ts";

/** What came of walking one window. */
export type WindowWalk =
  /** It should be cut first; `items` is how many the service counts. */
  | { readonly kind: "dense"; readonly items: number | null }
  /** It was read to its end. */
  | {
    readonly kind: "walked";
    readonly items: number;
    readonly completeness: Completeness;
    readonly latestCreatedMs: number | null;
  };

/**
 * Reads every order or user created in a window and records each page, one
 * request a step. A window that turns out dense is left, to be cut: what was
 * read of it stays.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param window The window.
 * @param prove Whether to ask the client for proof that this is all.
 *
 * @example Walk an hour
 * ```ts ignore
 * const result = yield* walkWindow(context, "order", { startMs, endMs }, true);
 * ```
 */
export async function* walkWindow(
  context: SweepContext,
  entity: Entity,
  window: TimeWindow,
  prove: boolean,
): Sweep<WindowWalk> {
  const start = filterTime(window.startMs);
  const end = filterTime(window.endMs);
  const options = {
    ...callOptions(context),
    prove,
    settleMs: context.settleMs,
  };
  const walk = entity === "order"
    ? recordedWalk(
      context,
      context.client.orders.list(
        { start_date: start, end_date: end, order_by: "asc", limit: 20 },
        options,
      ),
      recordOrders,
    )
    : recordedWalk(
      context,
      context.client.users.list(
        { from: start, to: end, limit: 20 },
        options,
      ),
      recordUsers,
    );
  let items = 0;
  let latestCreatedMs: number | null = null;
  for await (const page of walk.pages) {
    items += page.data.length;
    const created = latestCreation(page.data);
    if (created !== null) {
      latestCreatedMs = Math.max(latestCreatedMs ?? created, created);
    }
    yield 1;
    const { itemsPerWindow } = context;
    if (
      items === page.data.length &&
      isDense(window, page.total ?? 0, itemsPerWindow)
    ) {
      return { kind: "dense", items: page.total };
    }
    // A proof takes each item twice; beyond that a wrong `total` hid the rest.
    if (isDense(window, items, itemsPerWindow * 4)) {
      return { kind: "dense", items: null };
    }
  }
  return {
    kind: "walked",
    items,
    completeness: walk.completeness(),
    latestCreatedMs,
  };
}

/** Pages of a walk, each recorded before it is handed on. */
export function recordedWalk<T>(
  context: SweepContext,
  walk: PollWalk<T>,
  record: (
    context: SweepContext,
    page: Page<T>,
    askedAtMs: number,
  ) => Promise<void>,
): {
  readonly pages: AsyncGenerator<Page<T>>;
  readonly completeness: () => Completeness;
} {
  async function* pages(): AsyncGenerator<Page<T>> {
    let askedAtMs = context.now();
    for await (const page of walk.pages()) {
      await record(context, page, askedAtMs);
      yield page;
      askedAtMs = context.now();
    }
  }
  return { pages: pages(), completeness: () => walk.completeness };
}
