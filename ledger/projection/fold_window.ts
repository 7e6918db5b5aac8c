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
import {
  beganBy,
  CLICK_SESSIONS_KEPT,
  compareAsked,
} from "../fold/sessions.ts";
import { type Link, linkKey, OrderLinks, sessionLinks } from "./links.ts";
import { type Found, News } from "./news.ts";

/**
 * What an event says, and no more of the event: a window holds thousands.
 */
export interface WindowEvent {
  /** As read. */
  readonly fact: Fact;
  /** Whether somebody delivered it, readable or not. */
  readonly delivered: boolean;
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

/** What leads to an order. */
export interface OrderLink extends Link {
  /** The order. */
  readonly orderId: string;
  /**
   * Of a click id: when the order was there at the latest, as far as was known
   * when this was written; later it can only be earlier. Else empty.
   */
  readonly beganBy: string;
}

/** What a window of events changes. */
export interface Changes extends Found {
  /** Orders after the window. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users after the window. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Links to orders, each once. */
  readonly orderLinks: readonly OrderLink[];
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
  const links = new Map<string, OrderLinks>();
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
      let ofOrder = links.get(order);
      if (ofOrder === undefined) links.set(order, ofOrder = new OrderLinks());
      ofOrder.add(fact);
    }
    if (user !== null) {
      const before = users.get(user) ?? known.users.get(user);
      const after = evolveUser(before ?? initialUserFold(user), fact);
      users.set(user, after);
      if (live) news.ofUser(one, before, after);
    }
  }

  join(sessions, { orders, links, known });
  return {
    orders,
    users,
    orderLinks: linkRows(links, orders),
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
  { orders, links, known }: {
    readonly orders: Map<string, OrderFold>;
    readonly links: ReadonlyMap<string, OrderLinks>;
    readonly known: Known;
  },
): void {
  const meet = (orderId: string, session: SessionFact) => {
    const before = orders.get(orderId) ?? known.orders.get(orderId);
    if (before === undefined) return;
    const after = evolveOrder(before, session);
    if (after !== before) orders.set(orderId, after);
  };
  const fresh = freshSessions(sessions);
  for (const [key, found] of fresh) {
    for (const orderId of known.linkedOrders.get(key) ?? []) {
      for (const session of found) meet(orderId, session);
    }
  }
  if (fresh.size === 0 && known.sessions.size === 0) return;
  for (const [orderId, { all }] of links) {
    for (const key of all.keys()) {
      for (const session of known.sessions.get(key) ?? []) {
        meet(orderId, session);
      }
      for (const session of fresh.get(key) ?? []) meet(orderId, session);
    }
  }
}

/** Sessions by link; of a click id no more than an order would keep. */
function freshSessions(
  sessions: readonly SessionFact[],
): Map<string, SessionFact[]> {
  const fresh = new Map<string, SessionFact[]>();
  const sorted = sessions.toSorted((a, b) => compareAsked(a.asked, b.asked));
  for (const session of sorted) {
    for (const link of sessionLinks(session)) {
      const key = linkKey(link);
      const others = fresh.get(key);
      if (others === undefined) fresh.set(key, [session]);
      else if (
        link.kind !== "click" || others.length < CLICK_SESSIONS_KEPT
      ) others.push(session);
    }
  }
  return fresh;
}

function linkRows(
  links: ReadonlyMap<string, OrderLinks>,
  orders: ReadonlyMap<string, OrderFold>,
): OrderLink[] {
  const rows: OrderLink[] = [];
  for (const [orderId, { all }] of links) {
    const order = orders.get(orderId);
    const began = order === undefined ? null : beganBy(order);
    for (const { kind, link } of all.values()) {
      const beganBy = kind === "click" ? began ?? "" : "";
      rows.push({ kind, link, orderId, beganBy });
    }
  }
  return rows;
}
