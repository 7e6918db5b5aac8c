import type { Entity } from "../entity.ts";
import type { Fact, SessionFact } from "../events/fact.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { isFinal } from "../orders/order_rank.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import {
  beganBy,
  CLICK_SESSIONS_KEPT,
  compareSessionRequests,
} from "../orders/sessions.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
import { decideUserStatus, type Verification } from "../users/user_status.ts";
import { isFinalVerification } from "../users/verification_rank.ts";
import type { BatchEvent, Changes, LoadedStates, OrderLink } from "./batch.ts";
import { linkKey, OrderLinks, sessionLinks } from "./links.ts";
import type { MachineName } from "./transition.ts";
import {
  type MachineStatus,
  TransitionCollector,
} from "./transition_collector.ts";

/** How one kind of entity is folded. */
interface EntityRule<Fold> {
  readonly entity: Entity;
  readonly initial: (id: string) => Fold;
  readonly evolve: (fold: Fold, fact: Fact) => Fold;
  readonly machines: (fold: Fold) => readonly MachineStatus[];
  /** Final statuses that readings have shown, of one machine. */
  readonly finals: (fold: Fold, machine: MachineName) => readonly string[];
}

const orderRule: EntityRule<OrderFold> = {
  entity: "order",
  initial: initialOrderFold,
  evolve: evolveOrder,
  machines: (fold) => [{ machine: "order", visible: decideOrderStatus(fold) }],
  finals: ({ shown }) => shown.map(({ status }) => status).filter(isFinal),
};

const userRule: EntityRule<UserFold> = {
  entity: "user",
  initial: initialUserFold,
  evolve: evolveUser,
  machines: userMachines,
  finals: (fold, machine) => {
    if (machine !== "lkyc" && machine !== "fkyc") return [];
    const shown = machine === "lkyc" ? fold.shownLkyc : fold.shownFkyc;
    return shown.filter(isFinalVerification);
  },
};

function userMachines(fold: UserFold): readonly MachineStatus[] {
  const { lkyc, fkyc, ban } = decideUserStatus(fold);
  const shown = ({ state, trust }: Verification) =>
    state === null ? null : { status: state, trust };
  return [
    { machine: "lkyc", visible: shown(lkyc) },
    { machine: "fkyc", visible: shown(fkyc) },
    {
      machine: "ban",
      visible: ban === null ? null : { status: ban, trust: "confirmed" },
    },
  ];
}

/**
 * Folds a batch of events into what is known before it. Pure.
 *
 * A session concerns every order linked to it, whichever comes first. So each
 * order is joined with the sessions of its links, and each session with the
 * orders of its links; joining twice changes nothing.
 *
 * @param events The events, by position.
 * @param known What is known before.
 * @param live Whether subscribers and the poller hear of it: a refold is no
 * news to them.
 * @returns What changes.
 */
export function foldBatch(
  events: readonly BatchEvent[],
  known: LoadedStates,
  live: boolean,
): Changes {
  const orders = new Map<string, OrderFold>();
  const users = new Map<string, UserFold>();
  const links = new Map<string, OrderLinks>();
  const sessions: SessionFact[] = [];
  const collector = new TransitionCollector();
  const unanswered: string[] = [];

  const fold = <Fold>(
    rule: EntityRule<Fold>,
    id: string,
    event: BatchEvent,
    loaded: ReadonlyMap<string, Fold>,
    folded: Map<string, Fold>,
  ) => {
    const before = folded.get(id) ?? loaded.get(id);
    const after = rule.evolve(before ?? rule.initial(id), event.fact);
    folded.set(id, after);
    if (!live) return;
    collector.add(event, {
      entity: rule.entity,
      id,
      before: () => before === undefined ? [] : rule.machines(before),
      after: rule.machines(after),
      finals: (machine) =>
        before === undefined ? [] : rule.finals(before, machine),
    });
  };

  for (const event of events) {
    const { fact } = event;
    const { orderId, userId } = fact;
    if (fact.kind === "session_created") sessions.push(fact);
    if (fact.kind === "delivery_unanswered" && fact.deliveryId !== null) {
      unanswered.push(fact.deliveryId);
    }
    if (orderId !== null) {
      fold(orderRule, orderId, event, known.orders, orders);
      let ofOrder = links.get(orderId);
      if (ofOrder === undefined) links.set(orderId, ofOrder = new OrderLinks());
      ofOrder.add(fact);
    }
    if (userId !== null) fold(userRule, userId, event, known.users, users);
  }

  joinSessions(sessions, { orders, links, known });
  const { transitions, ordersToConfirm, usersToConfirm } = collector;
  return {
    orders,
    users,
    orderLinks: linkRows(links, orders),
    sessionLinks: sessions.flatMap((session) =>
      sessionLinks(session).map((link) => ({ ...link, session }))
    ),
    transitions,
    ordersToConfirm,
    usersToConfirm,
    unanswered,
  };
}

/** Joins orders with the sessions that a link of the batch leads to. */
function joinSessions(
  sessions: readonly SessionFact[],
  { orders, links, known }: {
    readonly orders: Map<string, OrderFold>;
    readonly links: ReadonlyMap<string, OrderLinks>;
    readonly known: LoadedStates;
  },
): void {
  const join = (orderId: string, session: SessionFact) => {
    const before = orders.get(orderId) ?? known.orders.get(orderId);
    if (before === undefined) return;
    const after = evolveOrder(before, session);
    if (after !== before) orders.set(orderId, after);
  };
  const fresh = sessionsByLink(sessions);
  for (const [key, found] of fresh) {
    for (const orderId of known.linkedOrders.get(key) ?? []) {
      for (const session of found) join(orderId, session);
    }
  }
  if (fresh.size === 0 && known.sessions.size === 0) return;
  for (const [orderId, { all }] of links) {
    for (const key of all.keys()) {
      for (const session of known.sessions.get(key) ?? []) {
        join(orderId, session);
      }
      for (const session of fresh.get(key) ?? []) join(orderId, session);
    }
  }
}

/** Sessions by link; for a click id no more than an order keeps. */
function sessionsByLink(
  sessions: readonly SessionFact[],
): Map<string, SessionFact[]> {
  const fresh = new Map<string, SessionFact[]>();
  const sorted = sessions.toSorted((a, b) =>
    compareSessionRequests(a.asked, b.asked)
  );
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
