import type { RecordedEvent } from "../event/event.ts";
import type { Fact, SessionFact } from "../fold/fact.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../fold/order_fold.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../fold/user_fold.ts";
import { type Link, linkKey, orderLinks, sessionLinks } from "./links.ts";
import { type Found, News } from "./news.ts";

/** An event with what it says. */
export interface WindowEvent {
  /** As stored. */
  readonly event: RecordedEvent;
  /** As read. */
  readonly fact: Fact;
  /** Whether it came from an import. */
  readonly imported: boolean;
}

/** What is known before a window of events. */
export interface Known {
  /** Orders that the window or its sessions concern; absent ones are new. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users that the window concerns; absent ones are new. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Sessions recorded before, by {@linkcode linkKey}. */
  readonly sessions: ReadonlyMap<string, readonly SessionFact[]>;
  /** Orders linked before, by {@linkcode linkKey}. */
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
}

/** What a window of events changes. */
export interface Changes extends Found {
  /** Orders after the window. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users after the window. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Links to orders, each once. */
  readonly orderLinks: ReadonlyMap<string, Link & { readonly orderId: string }>;
  /** Links to sessions, each once. */
  readonly sessionLinks: readonly (Link & { readonly session: SessionFact })[];
  /** Deliveries that were not answered in time. */
  readonly unanswered: readonly string[];
}

/**
 * Folds a window of events into what is known before it. Pure.
 *
 * A session concerns every order linked to it, whichever comes first, so each
 * order meets the sessions of its links and each session the orders of its
 * own; meeting twice changes nothing.
 *
 * @param window The events, by position.
 * @param known What is known before.
 * @param live Whether readers and subscribers hear of it: folding again from
 * nothing is no news.
 * @returns What changes.
 */
export function foldWindow(
  window: readonly WindowEvent[],
  known: Known,
  live: boolean,
): Changes {
  const orders = new Map<string, OrderFold>();
  const users = new Map<string, UserFold>();
  const linksOfOrder = new Map<string, Map<string, Link>>();
  const links = new Map<string, Link & { readonly orderId: string }>();
  const sessions: SessionFact[] = [];
  const news = new News();
  const unanswered: string[] = [];

  for (const one of window) {
    const { fact } = one;
    if (fact.kind === "session_created") sessions.push(fact);
    if (fact.kind === "delivery_unanswered" && fact.deliveryId !== null) {
      unanswered.push(fact.deliveryId);
    }
    const { orderId: order, userId: user } = fact;
    if (order !== null) {
      const before = orders.get(order) ?? known.orders.get(order);
      const after = evolveOrder(before ?? initialOrderFold(order), fact);
      orders.set(order, after);
      if (live) news.ofOrder(one, before, after);
      for (const link of orderLinks(fact)) {
        const key = linkKey(link);
        let ofOrder = linksOfOrder.get(order);
        if (ofOrder === undefined) {
          linksOfOrder.set(order, ofOrder = new Map());
        }
        if (ofOrder.has(key)) continue;
        ofOrder.set(key, link);
        links.set(`${key} ${order}`, { ...link, orderId: order });
      }
    }
    if (user !== null) {
      const before = users.get(user) ?? known.users.get(user);
      const after = evolveUser(before ?? initialUserFold(user), fact);
      users.set(user, after);
      if (live) news.ofUser(one, before, after);
    }
  }

  join(sessions, { orders, linksOfOrder, known });
  return {
    orders,
    users,
    orderLinks: links,
    sessionLinks: sessions.flatMap((session) =>
      sessionLinks(session).map((link) => ({ ...link, session }))
    ),
    ...news.found,
    unanswered,
  };
}

/** Lets orders and sessions meet that a link of the window brings together. */
function join(
  sessions: readonly SessionFact[],
  { orders, linksOfOrder, known }: {
    readonly orders: Map<string, OrderFold>;
    readonly linksOfOrder: ReadonlyMap<string, ReadonlyMap<string, Link>>;
    readonly known: Known;
  },
): void {
  const meet = (orderId: string, session: SessionFact) => {
    const before = orders.get(orderId) ?? known.orders.get(orderId);
    if (before === undefined) return;
    const after = evolveOrder(before, session);
    if (after !== before) orders.set(orderId, after);
  };
  const fresh = new Map<string, SessionFact[]>();
  for (const session of sessions) {
    for (const link of sessionLinks(session)) {
      const key = linkKey(link);
      const others = fresh.get(key);
      if (others === undefined) fresh.set(key, [session]);
      else others.push(session);
      for (const orderId of known.linkedOrders.get(key) ?? []) {
        meet(orderId, session);
      }
    }
  }
  if (fresh.size === 0 && known.sessions.size === 0) return;
  for (const [orderId, links] of linksOfOrder) {
    for (const key of links.keys()) {
      for (const session of known.sessions.get(key) ?? []) {
        meet(orderId, session);
      }
      for (const session of fresh.get(key) ?? []) meet(orderId, session);
    }
  }
}
