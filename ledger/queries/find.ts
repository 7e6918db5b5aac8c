import type { Driver } from "../store/driver/driver.ts";
import { selectFoundOrders, selectFoundUsers } from "../store/tables/find.ts";
import type { OrderView } from "./orders.ts";
import { wrongQuery } from "./query_values.ts";
import type { UserView } from "./users.ts";

/** What a text was found as. */
export type FoundAs =
  | "orderId"
  | "externalOrderId"
  | "reference"
  | "clickId"
  | "sessionId"
  | "txId"
  | "address"
  | "userId";

/** One way in which an order or user matches a text. */
export interface FoundMatch {
  /** What the text was found as. */
  readonly as: FoundAs;
  /** The whole value, as stored. */
  readonly value: string;
}

/** An order or a user that a text leads to. */
export type Found =
  | {
    /** Which kind it is. */
    readonly entity: "order";
    /** What matched; those that match whole come first. */
    readonly matches: readonly FoundMatch[];
    /** The order. */
    readonly order: OrderView;
  }
  | {
    /** Which kind it is. */
    readonly entity: "user";
    /** What matched. */
    readonly matches: readonly FoundMatch[];
    /** The user. */
    readonly user: UserView;
  };

/** What a text leads to. */
export interface FindResult {
  /** Whole matches first, then the newest. */
  readonly found: readonly Found[];
  /** Whether there are more than are listed. */
  readonly more: boolean;
}

/** Most that is found at once: more do not tell which one is meant. */
const MOST_FOUND = 100;

/** Shorter texts are the beginning of too much. */
export const PREFIX_AT_LEAST = 4;

/**
 * Finds orders and users by anything that names one.
 *
 * @param text What to look for; spaces around it do not count.
 * @throws {RangeError} When the text is empty.
 */
export async function findAnything(
  driver: Driver,
  text: string,
): Promise<FindResult> {
  const searched = text.trim();
  if (searched === "") {
    throw wrongQuery("text", text, "something to look for");
  }
  const isPrefix = searched.length >= PREFIX_AT_LEAST;
  const limit = MOST_FOUND + 1;
  const [orders, users] = await driver.batch([
    selectFoundOrders({ text: searched, isPrefix, limit }),
    selectFoundUsers({ text: searched, isPrefix, limit }),
  ], "read");
  const whole = searched.toLowerCase();
  const found = new Map<string, { order: OrderView; matches: FoundMatch[] }>();
  for (const [as, value, state, activity] of orders?.rows ?? []) {
    const order: OrderView = {
      ...JSON.parse(state as string),
      activity: JSON.parse(activity as string),
    };
    const one = found.get(order.orderId) ?? { order, matches: [] };
    const match = { as: as as FoundAs, value: value as string };
    const known = one.matches.some((other) =>
      other.as === match.as && other.value === match.value
    );
    if (!known) one.matches.push(match);
    found.set(order.orderId, one);
  }
  const isWhole = ({ value }: FoundMatch) => value.toLowerCase() === whole;
  const byOrder = [...found.values()].map(({ order, matches }) => ({
    entity: "order" as const,
    matches: matches.toSorted((a, b) =>
      Number(isWhole(b)) - Number(isWhole(a))
    ),
    order,
  })).sort((a, b) =>
    Number(b.matches.some(isWhole)) - Number(a.matches.some(isWhole)) ||
    compare(b.order.createdAt ?? "", a.order.createdAt ?? "") ||
    compare(a.order.orderId, b.order.orderId)
  );
  const byUser = (users?.rows ?? []).map(([state, activity]) => {
    const user: UserView = {
      ...JSON.parse(state as string),
      activity: JSON.parse(activity as string),
    };
    const matches = [{ as: "userId" as const, value: user.userId }];
    return { entity: "user" as const, matches, user };
  });
  const all: Found[] = [...byUser, ...byOrder];
  return { found: all.slice(0, MOST_FOUND), more: all.length > MOST_FOUND };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
