import type { IncompleteReason } from "../../../core/wire/incomplete_reason.ts";
import { readServiceTime } from "../../../core/time/service_time.ts";
import type { Order } from "../../../core/wire/order.ts";
import type { Page } from "../../../core/wire/page.ts";
import type { User } from "../../../core/wire/user.ts";
import type { Entity } from "../../entity.ts";
import { latestPlausible } from "../plausible_time.ts";
import type { PollWalk } from "../poll_client.ts";
import { listCreated, type ListPage, type Requester } from "./service_lists.ts";
import type { Steps } from "./steps.ts";
import { isDense, type TimeWindow } from "./windows.ts";

/** What walks a window, and what becomes of its pages. */
export interface WalkContext extends Requester {
  /** The time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Items a window should hold at most. */
  readonly itemsPerWindow: number;
  /** Younger than this the past may still change, in milliseconds. */
  readonly settleMs: number;
  /** Takes a page before the next one is requested. */
  readonly onPage: PageReader;
}

/** Takes a page, and when it was requested, in ms since the epoch. */
export type PageReader = (
  page: ListPage,
  requestedAtMs: number,
) => Promise<unknown>;

/** What became of a window. */
export type WindowOutcome =
  /** It has to be cut first; `items` is how many the service counts. */
  | { readonly kind: "dense"; readonly items: number | null }
  /** It was read to its end. */
  | {
    readonly kind: "walked";
    readonly items: number;
    /** Why it is not proven that these are all; null when it is. */
    readonly reason: IncompleteReason | null;
    /** The same in one sentence, as the client says it. */
    readonly why: string | null;
    /** Latest creation time, in milliseconds since the epoch. */
    readonly latestCreatedMs: number | null;
  };

const PROVEN = { reason: null, why: null };

/**
 * Reads every order or user created in a window, one request a step. It stops
 * when the window is dense, so that the window can be cut. Rows that were read
 * stay recorded.
 *
 * @param context What to work with.
 * @param entity Orders or users.
 * @param window The window.
 * @param prove Whether to have the client prove that this is all.
 *
 * @example Walk an hour
 * ```ts ignore
 * const outcome = yield* walkWindow(context, "order", { startMs, endMs }, true);
 * ```
 */
export async function* walkWindow(
  context: WalkContext,
  entity: Entity,
  window: TimeWindow,
  prove: boolean,
): Steps<WindowOutcome> {
  const { itemsPerWindow, settleMs } = context;
  const { startMs, endMs } = window;
  const walk = listCreated(context, entity, startMs, {
    endMs,
    prove,
    settleMs,
  });
  let items = 0;
  let latestCreatedMs: number | null = null;
  for await (const page of readPages(context, walk, context.onPage)) {
    items += page.data.length;
    latestCreatedMs = later(
      latestCreatedMs,
      latestCreation(page, context.now()),
    );
    yield 1;
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
  const { completeness } = walk;
  const { reason, why } = completeness.complete ? PROVEN : completeness;
  return { kind: "walked", items, reason, why, latestCreatedMs };
}

/**
 * Gives the pages of a walk, each after `onPage` has taken it.
 *
 * @param clock Tells when a page is requested.
 * @param walk The walk.
 * @param onPage Takes each page.
 */
export async function* readPages<Row extends Order | User>(
  clock: { readonly now: () => number },
  walk: PollWalk<Row>,
  onPage: PageReader,
): AsyncGenerator<Page<Row>> {
  let requestedAtMs = clock.now();
  for await (const page of walk.pages()) {
    await onPage(page, requestedAtMs);
    yield page;
    requestedAtMs = clock.now();
  }
}

/** Latest plausible creation time on a page, in ms; null when there is none. */
export function latestCreation(page: ListPage, nowMs: number): number | null {
  return latestPlausible(
    page.data.map(({ created_at }) => readServiceTime(created_at ?? "")),
    nowMs,
  );
}

/** The later of two times; null only where both are. */
export function later(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.max(a, b);
}
