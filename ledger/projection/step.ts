/**
 * What a batch of events makes of what is known: pure, one event after another.
 *
 * Orders and users are folded; what they enter that they were not in is collected as
 * transitions, and what webhooks name as requests for the poller.
 */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { RecordedEvent } from "../events/event.ts";
import type { Expectation } from "../events/expectation.ts";
import {
  type ExpectationFact,
  type Fact,
  isExpectation,
  isWitnessRule,
  type WitnessRuleFact,
} from "../events/fact.ts";
import {
  expectationLinks,
  type FactLink,
  linkKey,
  OrderLinks,
} from "../events/links.ts";
import { isFinal } from "../machines/order_machine.ts";
import { compareText } from "../machines/sorted_list.ts";
import type {
  Entity,
  MachineName,
  NewTransition,
  VisibleStatus,
} from "../machines/transition.ts";
import { isFinalVerification } from "../machines/user_machines.ts";
import { countingLook } from "../orders/chain_readings.ts";
import { ExpectationPool } from "../orders/expectation_pool.ts";
import { expectationWindow, sameWindow } from "../orders/expectations.ts";
import {
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import { WitnessRules } from "../orders/witness_rules.ts";
import {
  isHistoricOrder,
  isHistoricUser,
  isListed,
  type LedgerTimes,
} from "../releases/historic.ts";
import {
  deliveredPurchase,
  type OrderRelease,
  orderRelease,
} from "../releases/order_release.ts";
import type { HandChange, ReleaseChange } from "../releases/release_log.ts";
import {
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_fold.ts";
import { decideUserStatus } from "../users/user_status.ts";
import {
  type ToConfirm,
  type Urgency,
  urgencyOfOrder,
  urgencyOfUser,
} from "./urgency.ts";

/** What a step needs of one event. */
export interface BatchEvent {
  readonly fact: Fact;
  /** Whom the body names, whether or not the fact is of them. */
  readonly named: Pick<RecordedEvent, "orderId" | "userId">;
  /** Whether it is a webhook delivery, readable or not. */
  readonly delivered: boolean;
  /** Whether it came from an import: nobody is told what follows from it. */
  readonly imported: boolean;
}

/** What is known before a batch. */
export interface Known {
  /** Orders that the batch or its terms concern; absent ones are new. */
  readonly orders: ReadonlyMap<string, OrderFold>;
  /** Users that the batch concerns; absent ones are new. */
  readonly users: ReadonlyMap<string, UserFold>;
  /** Terms recorded before that orders of the batch may keep. */
  readonly expectations: readonly Expectation[];
  /** Since when orders wait for the chain, and until when, as recorded before. */
  readonly rules: readonly WitnessRuleFact[];
  /** Successes that a rule of the batch may concern. */
  readonly successes: readonly string[];
  /** Orders that the service has shown under a link, by `linkKey`. */
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
}

export interface StepOptions extends LedgerTimes {
  readonly assets: AssetTable;
}

export interface OrderLink extends FactLink {
  readonly orderId: string;
}

export type Collected = NewTransition | ReleaseChange | HandChange;

/** Folds a batch. */
export function takeStep(
  events: readonly BatchEvent[],
  known: Known,
  options: StepOptions,
): Step {
  const step = new Step(known, options);
  for (const event of events) step.take(event);
  return step;
}

/** What a batch changes. */
export class Step {
  /** Orders and users after the batch, as far as it changed them. */
  readonly orders: Map<string, OrderFold> = new Map();
  readonly users: Map<string, UserFold> = new Map();
  /** Position of the first event that names a new order or user. */
  readonly firstOf: Readonly<Record<Entity, Map<string, number>>> = {
    order: new Map(),
    user: new Map(),
  };
  /** In order; of what was told before, `tell` decides. */
  readonly transitions: Collected[] = [];
  readonly expectations: ExpectationFact[] = [];
  /** Deliveries that were not answered in time. */
  readonly unanswered: string[] = [];
  readonly toConfirm: Readonly<Record<Entity, Map<string, ToConfirm>>> = {
    order: new Map(),
    user: new Map(),
  };
  /** Orders that had ended before the ledger went live; whether it is listed. */
  readonly historic: Map<string, boolean> = new Map();
  /** Orders of which something new is sent. */
  readonly revived: Set<string> = new Set();
  readonly #known: Known;
  readonly #options: StepOptions;
  readonly #links = new Map<string, OrderLinks>();
  readonly #pool = new ExpectationPool();
  readonly #rules = new WitnessRules();
  /** Orders of the batch, by what terms find them by. */
  readonly #linked = new Map<string, Set<string>>();
  readonly #machines = {
    order: new Map<string, readonly MachineStatus[]>(),
    user: new Map<string, readonly MachineStatus[]>(),
  };
  readonly #releases = new Map<string, OrderRelease | null>();

  constructor(known: Known, options: StepOptions) {
    this.#known = known;
    this.#options = options;
    for (const expectation of known.expectations) this.#pool.add(expectation);
    for (const { change } of known.rules) this.#rules.add(change);
  }

  take(event: BatchEvent): void {
    const { fact } = event;
    const { orderId, userId, position } = fact;
    if (isExpectation(fact)) {
      this.expectations.push(fact);
      for (const id of this.#ordersOf(fact.expectation)) {
        this.#order(id, event, (order) => this.#join(order));
      }
    }
    if (isWitnessRule(fact)) {
      this.#rules.add(fact.change);
      const ids = new Set([...this.#known.successes, ...this.orders.keys()]);
      for (const id of [...ids].sort(compareText)) {
        this.#order(id, event, (order) => this.#rules.join(order));
      }
    }
    if (fact.kind === "delivery_unanswered" && fact.deliveryId !== null) {
      this.unanswered.push(fact.deliveryId);
    }
    if (orderId !== null) {
      this.#first("order", orderId, position);
      this.#order(orderId, event, (order) => {
        const next = evolveOrder(order, fact);
        // Only a reading moves what an order is expected to be.
        return fact.kind === "order_snapshot"
          ? this.#rules.join(this.#join(next))
          : next;
      });
      const links = this.#links.get(orderId) ?? new OrderLinks();
      this.#links.set(orderId, links);
      links.add(fact);
    }
    if (userId !== null) {
      this.#first("user", userId, position);
      this.#user(userId, event);
    }
  }

  /** What leads to the orders that the batch changed. */
  get links(): OrderLink[] {
    return [...this.orders].flatMap(([orderId, order]) => {
      const before = this.#known.orders.get(orderId);
      const isMoved = before?.expectations !== order.expectations ||
        !sameWindow(expectationWindow(before), expectationWindow(order));
      return [
        ...this.#links.get(orderId)?.all.values() ?? [],
        ...isMoved ? linksOfTerms(order) : [],
      ].map((link) => ({ ...link, orderId }));
    });
  }

  #first(entity: Entity, id: string, position: number): void {
    const { orders, users } = this.#known;
    const isKnown = (entity === "order" ? orders : users).has(id);
    if (isKnown || this.firstOf[entity].has(id)) return;
    this.firstOf[entity].set(id, position);
  }

  // What is expected of orders.

  #join(order: OrderFold): OrderFold {
    const joined = this.#pool.join(order);
    const { orderId, latest, expectations } = joined;
    const note = (clickId: string | null, reference: string | null) => {
      for (const link of expectationLinks({ clickId, reference })) {
        const ids = this.#linked.get(linkKey(link)) ?? new Set();
        this.#linked.set(linkKey(link), ids.add(orderId));
      }
    };
    if (latest?.clickId) note(latest.clickId, null);
    for (const { reference } of expectations) note(null, reference);
    return joined;
  }

  /** Orders that terms may concern, by id: the first takes the purchase. */
  #ordersOf(expectation: Expectation): readonly string[] {
    this.#pool.add(expectation);
    const ids = new Set<string>();
    for (const link of expectationLinks(expectation)) {
      const key = linkKey(link);
      for (const id of this.#known.linkedOrders.get(key) ?? []) ids.add(id);
      for (const id of this.#linked.get(key) ?? []) ids.add(id);
    }
    return [...ids].sort(compareText);
  }

  // Folding, and what follows from it.

  #order(
    id: string,
    event: BatchEvent,
    evolve: (order: OrderFold) => OrderFold,
  ): void {
    const { fact, imported } = event;
    const before = this.orders.get(id) ?? this.#known.orders.get(id);
    // Terms make no order.
    if (before === undefined && fact.orderId === null) return;
    const after = evolve(before ?? initialOrderFold(id));
    if (after === before) return;
    this.orders.set(id, after);
    const options = this.#options;
    const decided = orderRelease(after, options);
    const isOld = isHistoricOrder(fact, before, decided, options);
    this.#enter(event, { entity: "order", id }, {
      before: () => before === undefined ? [] : orderMachines(before),
      after: orderMachines(after),
      finals: (machine) => before ? orderFinals(before, machine) : [],
      historic: () => isOld,
      urgency: event.delivered ? urgencyOfOrder(before, after) : 0,
    });
    if (isOld && !imported) {
      this.historic.set(id, isListed(fact, decided, options.goLive ?? ""));
      this.revived.delete(id);
    }
    // What a person moves is known before what the order then says.
    const gave = deliveredPurchase(before);
    const took = deliveredPurchase(after);
    if (gave?.kind !== took?.kind || gave?.name !== took?.name) {
      const { position, recordedAt } = fact;
      const live = !imported;
      this.transitions.push({
        ...{ orderId: id, gave, took, position, recordedAt, live },
      });
    }
    if (decided !== null) this.#decide(id, event, { before, decided, isOld });
  }

  #decide(
    id: string,
    event: BatchEvent,
    { before, decided, isOld }: {
      readonly before: OrderFold | undefined;
      readonly decided: OrderRelease;
      readonly isOld: boolean;
    },
  ): void {
    if (!this.#releases.has(id)) {
      const first = before && orderRelease(before, this.#options);
      this.#releases.set(id, first ?? null);
    }
    const last = this.#releases.get(id) ?? null;
    this.#releases.set(id, decided);
    if (last !== null && isSameRelease(last, decided)) return;
    const { fact, imported } = event;
    this.transitions.push({
      orderId: id,
      now: decided,
      position: fact.position,
      recordedAt: fact.recordedAt,
      live: this.#isLive(event, { entity: "order", id }, isOld),
      historic: isOld && !imported,
      byExpectation: fact.orderId === null,
    });
  }

  #user(id: string, event: BatchEvent): void {
    const { fact } = event;
    const before = this.users.get(id) ?? this.#known.users.get(id);
    const after = evolveUser(before ?? initialUserFold(id), fact);
    if (after === before) return;
    this.users.set(id, after);
    const isOld = isHistoricUser(fact, before, this.#options);
    this.#enter(event, { entity: "user", id }, {
      before: () => before === undefined ? [] : userMachines(before),
      after: userMachines(after),
      finals: (machine) => before ? userFinals(before, machine) : [],
      // A webhook claimed it, and that was new.
      historic: ({ status }, previous) => isOld && previous?.status !== status,
      urgency: event.delivered ? urgencyOfUser(before, after) : 0,
    });
  }

  /** Collects what machines enter, and what a webhook asks to confirm. */
  #enter(
    event: BatchEvent,
    who: { readonly entity: Entity; readonly id: string },
    { before, after, finals, historic, urgency }: Evolved,
  ): void {
    const { fact, delivered, imported } = event;
    const { entity, id } = who;
    const last = this.#machines[entity].get(id) ?? before();
    this.#machines[entity].set(id, after);
    for (const { machine, visible } of after) {
      if (visible === null) continue;
      const previous = last.find((one) => one.machine === machine)?.visible ??
        null;
      const { status, trust } = visible;
      if (previous?.status === status && previous.trust === trust) continue;
      const isOld = !imported && historic(visible, previous);
      this.transitions.push({
        ...{ entity, machine, id, trust, status, previous },
        reverses: finals(machine).filter((final) => final !== status),
        ...{ entry: 1, logged: null, after: [] },
        position: fact.position,
        recordedAt: fact.recordedAt,
        live: this.#isLive(event, who, isOld),
        withheld: false,
        historic: isOld,
      });
    }
    if (!delivered || imported) return;
    const known = this.toConfirm[entity].get(id) ??
      { at: "", urgency: 0, claimedBy: 0 };
    this.toConfirm[entity].set(id, {
      at: known.at < fact.recordedAt ? fact.recordedAt : known.at,
      urgency: urgency > known.urgency ? urgency : known.urgency,
      claimedBy: urgency > 0 ? fact.position : known.claimedBy,
    });
  }

  /** Whether it is sent; then a historic order is no longer historic. */
  #isLive(
    { imported }: BatchEvent,
    { entity, id }: { readonly entity: Entity; readonly id: string },
    isOld: boolean,
  ): boolean {
    if (imported || isOld) return false;
    if (entity === "order") {
      this.historic.delete(id);
      this.revived.add(id);
    }
    return true;
  }
}

/** Where a machine stands; null while it shows nothing. */
export interface MachineStatus {
  readonly machine: MachineName;
  readonly visible: VisibleStatus | null;
}

interface Evolved {
  /** Where the machines stood before the batch. */
  readonly before: () => readonly MachineStatus[];
  readonly after: readonly MachineStatus[];
  /** Final statuses that readings had shown. */
  readonly finals: (machine: MachineName) => readonly string[];
  /** Whether a status had been entered before the ledger went live. */
  readonly historic: (
    entered: VisibleStatus,
    previous: VisibleStatus | null,
  ) => boolean;
  readonly urgency: Urgency;
}

export function orderMachines(fold: OrderFold): readonly MachineStatus[] {
  const look = countingLook(fold.looks, fold.latest);
  const isSettled = look !== null && (look.final || look.verdict === "reorged");
  return [
    { machine: "order", visible: decideOrderStatus(fold) },
    {
      machine: "witness",
      visible: isSettled ? { status: look.verdict, trust: "confirmed" } : null,
    },
  ];
}

function orderFinals(fold: OrderFold, machine: MachineName): string[] {
  if (machine !== "order") return [];
  return fold.observedStatuses.map(({ status }) => status).filter(isFinal);
}

export function userMachines(fold: UserFold): readonly MachineStatus[] {
  const { lkyc, fkyc, ban } = decideUserStatus(fold);
  const shown = ({ state, trust }: typeof lkyc) =>
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

function userFinals(fold: UserFold, machine: MachineName): string[] {
  if (machine !== "lkyc" && machine !== "fkyc") return [];
  const shown = machine === "lkyc" ? fold.observedLkyc : fold.observedFkyc;
  return shown.filter(isFinalVerification);
}

function linksOfTerms({ latest, expectations }: OrderFold): FactLink[] {
  const references = new Set(expectations.map(({ reference }) => reference));
  const links: FactLink[] = [];
  for (const link of references) {
    if (link !== null) links.push({ kind: "reference", link, confirmed: true });
  }
  if (latest?.clickId) {
    links.push({ kind: "click", link: latest.clickId, confirmed: true });
  }
  return links;
}

function isSameRelease(a: OrderRelease, b: OrderRelease): boolean {
  return a.release === b.release && a.reason === b.reason &&
    a.byHand === b.byHand && a.purchase?.kind === b.purchase?.kind &&
    a.purchase?.name === b.purchase?.name;
}
