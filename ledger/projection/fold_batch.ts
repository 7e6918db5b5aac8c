import type { Entity, MachineName } from "../machines/transition.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
  isWitnessRule,
} from "../events/fact.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { isFinal } from "../machines/order_rank.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import {
  beganBy,
  expectationWindow,
  sameWindow,
} from "../orders/expectations.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
import { decideUserStatus, type Verification } from "../users/user_status.ts";
import { isFinalVerification } from "../machines/verification_machine.ts";
import {
  deliveredPurchase,
  type OrderRelease,
  orderRelease,
} from "../releases/order_release.ts";
import {
  isHistoricOrder,
  isHistoricUser,
  isListed,
  type LedgerTimes,
} from "../releases/historic.ts";
import type { ResolveOptions } from "../orders/resolve_order.ts";
import type { Urgency } from "../store/tables/polling/request_queues.ts";
import type {
  BatchEvent,
  Changes,
  LoadedStates,
  OrderLink,
  Places,
} from "./batch.ts";
import { type FactLink, OrderLinks } from "../events/links.ts";
import { ExpectationJoiner } from "./expectation_joiner.ts";
import { urgencyOfOrder, urgencyOfUser } from "./first_claim.ts";
import { WitnessRules } from "../orders/witness_rules.ts";
import { compareText } from "../machines/sorted_list.ts";
import { countingLook } from "../orders/chain_readings.ts";
import {
  type Evolved,
  type MachineStatus,
  TransitionCollector,
} from "./transition_collector.ts";

/** How states are computed, and from when on transitions are sent. */
export interface CollectOptions extends ResolveOptions, LedgerTimes {}

/** How one kind of entity is folded. */
interface EntityRule<Fold> {
  readonly entity: Entity;
  readonly initial: (id: string) => Fold;
  readonly evolve: (fold: Fold, fact: Fact) => Fold;
  readonly machines: (fold: Fold) => readonly MachineStatus[];
  /** Final statuses that readings have shown, of one machine. */
  readonly finals: (fold: Fold, machine: MachineName) => readonly string[];
  /** How urgent it is to ask for it after a webhook. */
  readonly urgency: (before: Fold | undefined, after: Fold) => Urgency;
}

const orderRule: EntityRule<OrderFold> = {
  entity: "order",
  initial: initialOrderFold,
  evolve: evolveOrder,
  machines: (fold) => [
    { machine: "order", visible: decideOrderStatus(fold) },
    { machine: "witness", visible: settledLook(fold) },
  ],
  finals: ({ observedStatuses }, machine) =>
    machine === "order"
      ? observedStatuses.map(({ status }) => status).filter(isFinal)
      : [],
  urgency: urgencyOfOrder,
};

/**
 * What the chain has settled of an order: a final verdict, or that the block
 * was taken back. Nothing is sent of what is still open.
 */
function settledLook(fold: OrderFold): MachineStatus["visible"] {
  const look = countingLook(fold.looks, fold.latest);
  return look !== null && (look.final || look.verdict === "reorged")
    ? { status: look.verdict, trust: "confirmed" }
    : null;
}

const userRule: EntityRule<UserFold> = {
  entity: "user",
  initial: initialUserFold,
  evolve: evolveUser,
  machines: userMachines,
  finals: (fold, machine) => {
    if (machine !== "lkyc" && machine !== "fkyc") return [];
    const shown = machine === "lkyc" ? fold.observedLkyc : fold.observedFkyc;
    return shown.filter(isFinalVerification);
  },
  urgency: urgencyOfUser,
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
 * What the partner expects concerns every order of its click id or reference,
 * whichever comes first. So each order is joined with what is expected of it, and
 * each expectation with the orders that it may concern; joining twice changes
 * nothing. Both happen at the position of the event that brings the two together,
 * so that what is collected of an order is what its state says. Whether orders
 * wait for the chain concerns every success that began since, and is joined alike.
 *
 * @param events The events, by position.
 * @param known What is known before.
 * @param collect How states are worked out, where subscribers and the poller
 * are told of it; null for a refold, which sends nothing.
 * @returns What changes.
 */
export function foldBatch(
  events: readonly BatchEvent[],
  known: LoadedStates,
  collect: CollectOptions | null,
): Changes {
  const orders = new Map<string, OrderFold>();
  const users = new Map<string, UserFold>();
  const links = new Map<string, OrderLinks>();
  const expectations: ExpectationFact[] = [];
  const joiner = new ExpectationJoiner(events, known);
  const rules = new WitnessRules();
  for (const { change } of known.rules) rules.add(change);
  const collector = new TransitionCollector();
  const unanswered: string[] = [];

  const fold = <Fold>(
    rule: EntityRule<Fold>,
    id: string,
    { event, before, evolve, folded, historicOf }: {
      readonly event: BatchEvent;
      readonly before: Fold | undefined;
      readonly evolve: (fold: Fold) => Fold;
      readonly folded: Map<string, Fold>;
      readonly historicOf: (after: Fold) => Evolved["historic"];
    },
  ) => {
    const after = evolve(before ?? rule.initial(id));
    if (after === before) return;
    folded.set(id, after);
    if (collect === null) return;
    collector.add(event, {
      entity: rule.entity,
      id,
      before: () => before === undefined ? [] : rule.machines(before),
      after: rule.machines(after),
      finals: (machine) =>
        before === undefined ? [] : rule.finals(before, machine),
      historic: historicOf(after),
      urgency: event.delivered ? rule.urgency(before, after) : 0,
    });
  };
  const foldOrder = (
    id: string,
    event: BatchEvent,
    evolve: (fold: OrderFold) => OrderFold,
  ) => {
    const before = orders.get(id) ?? known.orders.get(id);
    // An expectation makes no order.
    if (before === undefined && event.fact.orderId === null) return;
    const { fact } = event;
    let decided: OrderRelease | null = null;
    let historic = false;
    const historicOf = (after: OrderFold) => {
      if (collect === null) return undefined;
      decided = orderRelease(after, collect);
      historic = isHistoricOrder(fact, before, decided, collect);
      return () => historic;
    };
    fold(orderRule, id, { event, before, evolve, folded: orders, historicOf });
    if (collect === null) return;
    if (historic && !event.imported) {
      collector.addHistoric(id, isListed(fact, decided, collect.goLive ?? ""));
    }
    // What a person moves is known before what the order then says.
    const gave = deliveredPurchase(before);
    const took = deliveredPurchase(orders.get(id) ?? before);
    if (gave?.kind !== took?.kind || gave?.name !== took?.name) {
      collector.addHand(event, { orderId: id, gave, took });
    }
    if (decided !== null) {
      collector.addRelease(event, {
        id,
        before: () =>
          before === undefined ? null : orderRelease(before, collect),
        after: decided,
        historic,
      });
    }
  };

  for (const event of events) {
    const { fact } = event;
    const { orderId, userId } = fact;
    if (isExpectation(fact)) {
      expectations.push(fact);
      for (const id of joiner.ordersOf(fact.expectation)) {
        foldOrder(id, event, (order) => joiner.join(order));
      }
    }
    if (isWitnessRule(fact)) {
      rules.add(fact.change);
      const ids = new Set([...known.successes, ...orders.keys()]);
      for (const id of [...ids].sort(compareText)) {
        foldOrder(id, event, (order) => rules.join(order));
      }
    }
    if (fact.kind === "delivery_unanswered" && fact.deliveryId !== null) {
      unanswered.push(fact.deliveryId);
    }
    if (orderId !== null) {
      foldOrder(orderId, event, (order) => {
        const next = evolveOrder(order, fact);
        // Only a reading moves what an order is expected to be.
        return fact.kind === "order_snapshot"
          ? rules.join(joiner.join(next))
          : next;
      });
      let ofOrder = links.get(orderId);
      if (ofOrder === undefined) links.set(orderId, ofOrder = new OrderLinks());
      ofOrder.add(fact);
    }
    if (userId !== null) {
      const before = users.get(userId) ?? known.users.get(userId);
      fold(userRule, userId, {
        event,
        before,
        evolve: (user) => evolveUser(user, fact),
        folded: users,
        historicOf: () =>
          collect !== null && isHistoricUser(fact, before, collect)
            // A webhook claimed it, and that was new.
            ? ({ status }, previous) => previous?.status !== status
            : undefined,
      });
    }
  }

  const { transitions, ordersToConfirm, usersToConfirm } = collector;
  const { historic, revived } = collector;
  return {
    orders,
    users,
    places: placesOf(events, known),
    orderLinks: linkRows(orders, links, known),
    expectations,
    transitions,
    ordersToConfirm,
    usersToConfirm,
    historic,
    revived,
    unanswered,
  };
}

function placesOf(
  events: readonly BatchEvent[],
  known: Pick<LoadedStates, "orders" | "users">,
): Places {
  const orders = new Map<string, number>();
  const users = new Map<string, number>();
  const add = (
    id: string | null,
    position: number,
    [places, known]: readonly [
      Map<string, number>,
      ReadonlyMap<string, unknown>,
    ],
  ) => {
    if (id === null || known.has(id) || places.has(id)) return;
    places.set(id, position);
  };
  for (const { fact: { orderId, userId, position } } of events) {
    add(orderId, position, [orders, known.orders]);
    add(userId, position, [users, known.users]);
  }
  return { orders, users };
}

function linkRows(
  orders: ReadonlyMap<string, OrderFold>,
  links: ReadonlyMap<string, OrderLinks>,
  known: LoadedStates,
): OrderLink[] {
  return [...orders].flatMap(([orderId, order]) => {
    const before = known.orders.get(orderId);
    const isMoved = before?.expectations !== order.expectations ||
      !sameWindow(expectationWindow(before), expectationWindow(order));
    return orderLinkRows(order, links.get(orderId), isMoved);
  });
}

/**
 * What leads to an order: the links of its facts, and what a later expectation
 * finds it by, which says when the order was there at the latest.
 *
 * @param order Folded facts of the order.
 * @param links Links of its facts.
 * @param isMoved Whether an expectation has to find it by what it shows now.
 */
export function orderLinkRows(
  order: OrderFold,
  links: OrderLinks | undefined,
  isMoved: boolean,
): OrderLink[] {
  const { orderId } = order;
  const began = beganBy(order) ?? "";
  const row = (link: FactLink): OrderLink => ({
    ...link,
    orderId,
    beganBy: link.kind === "click" || link.kind === "reference" ? began : "",
  });
  const all = [...links?.all.values() ?? []];
  if (isMoved) all.push(...linksOfExpectations(order));
  return all.map(row);
}

function linksOfExpectations({ latest, expectations }: OrderFold): FactLink[] {
  const references = new Set(expectations.map(({ reference }) => reference));
  const links = [...references].flatMap((link) =>
    link === null ? [] : { kind: "reference" as const, link, confirmed: true }
  );
  return latest?.clickId
    ? [...links, { kind: "click", link: latest.clickId, confirmed: true }]
    : links;
}
