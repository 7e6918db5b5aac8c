import type { Order } from "../../core/wire/order.ts";
import { type Page, rowsOn } from "../../core/wire/page.ts";
import type { User } from "../../core/wire/user.ts";
import type { Entity } from "../../ledger/for_sync.ts";
import { pastBeginsMs } from "../../core/time/plausible_time.ts";
import type { PollClient, PollWalk, PollWalkOptions } from "./poll_client.ts";
import { filterTime } from "./windows.ts";

/** A page of either list. */
export type ListPage = Page<Order | User>;

/** What makes requests, and what ends them. */
export interface Requester {
  /** Makes the requests. */
  readonly client: PollClient;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/** Options of a call, with the signal where there is one. */
export function callOptions(
  { signal }: Requester,
): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

/**
 * Lists orders or users by creation time, the oldest first.
 *
 * @param requester What makes the requests.
 * @param entity Orders or users.
 * @param startMs Exclusive start, in milliseconds since the epoch.
 * @param options Inclusive end in milliseconds since the epoch, and whether to
 * prove that this is all.
 */
export function listCreated(
  requester: Requester,
  entity: Entity,
  startMs: number,
  options: Omit<PollWalkOptions, "signal"> & { readonly endMs?: number } = {},
): PollWalk<Order | User> {
  const { endMs, ...how } = options;
  const { orders, users } = requester.client;
  const start = filterTime(startMs);
  const end = endMs === undefined ? null : filterTime(endMs);
  const walkOptions = { ...callOptions(requester), ...how };
  return entity === "order"
    ? orders.list({
      start_date: start,
      ...(end === null ? {} : { end_date: end }),
      order_by: "asc",
      limit: 20,
    }, walkOptions)
    : users.list(
      { from: start, ...(end === null ? {} : { to: end }), limit: 20 },
      walkOptions,
    );
}

/** Where the past begins at the service, and when it said so. */
export interface Past {
  /** When the service answered, UTC ISO 8601. */
  readonly readAt: string;
  /**
   * Exclusive start of the past, given its end; both in milliseconds since the
   * epoch. The end itself where the service has nothing.
   */
  readonly beginsMs: (untilMs: number) => number;
}

/**
 * Requests the oldest order or user.
 *
 * @param requester What makes the request.
 * @param entity Orders or users.
 */
export async function requestOldest(
  requester: Requester,
  entity: Entity,
): Promise<Past> {
  const { orders, users } = requester.client;
  const query = { order_by: "asc", limit: 1 } as const;
  const page: ListPage = entity === "order"
    ? await orders.page(query, callOptions(requester))
    : await users.page(query, callOptions(requester));
  return {
    readAt: page.readAt,
    beginsMs: (untilMs) =>
      rowsOn(page) === 0
        ? untilMs
        : pastBeginsMs(page.data[0]?.created_at, untilMs),
  };
}
