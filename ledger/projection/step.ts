/**
 * What a batch of events makes of the rows that are known: pure, one event after
 * another. Orders and users are folded; what they enter that they were not in is
 * collected for the log, and what webhooks name for the poller.
 */
import type { AssetTable } from "../../core/assets/environment.ts";
import {
  deliveredPurchase,
  type Expectation,
  type RecordedEvent,
} from "../events/event.ts";
import {
  addLinks,
  expectationLinks,
  type Fact,
  type FactLink,
  isExpectation,
  isWitnessRule,
  linkKey,
  type WitnessRuleFact,
} from "../events/fact.ts";
import { compareText, isFinal, verificationRow } from "../machines/machine.ts";
import type {
  Entity,
  MachineName,
  NewTransition,
  VisibleStatus,
} from "../machines/transition.ts";
import {
  countingLook,
  evolveOrder,
  initialOrderFold,
  type OrderFold,
} from "../orders/order_fold.ts";
import {
  ExpectationPool,
  expectationWindow,
  sameWindow,
  WitnessRules,
} from "../orders/expectations.ts";
import { decideOrderStatus } from "../orders/order_status.ts";
import {
  type HandChange,
  isHistoricOrder,
  isHistoricUser,
  isListed,
  type LedgerTimes,
  type OrderRelease,
  orderRelease,
  type ReleaseChange,
} from "../releases/order_release.ts";
import {
  decideUserStatus,
  evolveUser,
  initialUserFold,
  type UserFold,
} from "../users/user_state.ts";
import { NOTHING_TOLD, type Row, type ToConfirm, urgencyOf } from "./rows.ts";

export interface BatchEvent {
  readonly event: RecordedEvent;
  readonly fact: Fact;
  /** Whether it came from an import: nobody is told what follows from it. */
  readonly imported: boolean;
}

/** Rows of orders and users by id; absent ones are new. */
export interface KnownRows {
  readonly orders: Map<string, Row<OrderFold>>;
  readonly users: Map<string, Row<UserFold>>;
}

export interface Known extends KnownRows {
  /** Terms recorded before that orders of the batch may keep. */
  readonly expectations: readonly Expectation[];
  /** Orders that the service has shown under a link, by `linkKey`. */
  readonly linkedOrders: ReadonlyMap<string, readonly string[]>;
  /** Successes that a rule of the batch may concern. */
  readonly successes: readonly string[];
  /** Since when orders wait for the chain, and until when, as recorded before. */
  readonly rules: readonly WitnessRuleFact[];
}

type StepOptions = LedgerTimes & { readonly assets: AssetTable };

export type Collected = NewTransition | ReleaseChange | HandChange;

type AnyFold = OrderFold | UserFold;

export class Step implements KnownRows {
  /** Every row that is known, as the batch leaves it. */
  readonly orders: Map<string, Row<OrderFold>>;
  readonly users: Map<string, Row<UserFold>>;
  readonly changed: Readonly<Record<Entity, Set<string>>> = {
    order: new Set(),
    user: new Set(),
  };
  /** In order; of what was told before, `tell` decides. */
  readonly transitions: Collected[] = [];
  readonly toConfirm: Readonly<Record<Entity, Map<string, ToConfirm>>> = {
    order: new Map(),
    user: new Map(),
  };
  readonly #known: Known;
  readonly #options: StepOptions;
  readonly #links = new Map<string, Map<string, FactLink>>();
  readonly #pool = new ExpectationPool();
  readonly #rules = new WitnessRules();
  /** Orders of the batch, by what terms find them by. */
  readonly #linked = new Map<string, Set<string>>();
  // What the last event left is what the next one begins with.
  readonly #machinesOf = remembering(machinesOf);
  readonly #releaseOf = remembering((fold: OrderFold) =>
    orderRelease(fold, this.#options)
  );

  constructor(known: Known, options: StepOptions) {
    this.orders = new Map(known.orders);
    this.users = new Map(known.users);
    this.#known = known;
    this.#options = options;
    for (const expectation of known.expectations) this.#pool.add(expectation);
    for (const { change } of known.rules) this.#rules.add(change);
  }

  take(event: BatchEvent): void {
    const { fact } = event;
    const { orderId, userId } = fact;
    if (isExpectation(fact)) {
      for (const id of this.#ordersOf(fact.expectation)) {
        this.#order(id, event, (order) => this.#join(order));
      }
    }
    if (isWitnessRule(fact)) {
      this.#rules.add(fact.change);
      const ids = new Set([...this.#known.successes, ...this.changed.order]);
      for (const id of [...ids].sort(compareText)) {
        this.#order(id, event, (order) => this.#rules.join(order));
      }
    }
    if (orderId !== null) {
      this.#order(orderId, event, (order) => {
        const next = evolveOrder(order, fact);
        // Only a reading moves what an order is expected to be.
        return fact.kind === "order_snapshot"
          ? this.#rules.join(this.#join(next))
          : next;
      });
      const links = this.#links.get(orderId) ?? new Map();
      this.#links.set(orderId, links);
      addLinks(links, fact);
    }
    if (userId !== null) this.#user(userId, event);
  }

  linksOf(orderId: string): FactLink[] {
    const before = this.#known.orders.get(orderId)?.fold;
    const order = this.orders.get(orderId)?.fold;
    if (order === undefined) return [];
    const isMoved = before?.expectations !== order.expectations ||
      !sameWindow(expectationWindow(before), expectationWindow(order));
    return [
      ...this.#links.get(orderId)?.values() ?? [],
      ...isMoved ? linksOfTerms(order) : [],
    ];
  }

  #join(order: OrderFold): OrderFold {
    const joined = this.#pool.join(order);
    for (const link of linksOfTerms(joined)) {
      const ids = this.#linked.get(linkKey(link)) ?? new Set();
      this.#linked.set(linkKey(link), ids.add(order.orderId));
    }
    return joined;
  }

  /** Orders that terms may concern, by id: the first takes the purchase. */
  #ordersOf(expectation: Expectation): readonly string[] {
    this.#pool.add(expectation);
    const ids = new Set(
      expectationLinks(expectation).map(linkKey).flatMap((key) => [
        ...this.#known.linkedOrders.get(key) ?? [],
        ...this.#linked.get(key) ?? [],
      ]),
    );
    return [...ids].sort(compareText);
  }

  #order(
    id: string,
    event: BatchEvent,
    evolve: (order: OrderFold) => OrderFold,
  ): void {
    const { fact, imported } = event;
    const { position, recordedAt } = fact;
    const row = this.orders.get(id);
    // Terms make no order.
    if (row === undefined && fact.orderId === null) return;
    const before = row?.fold;
    const after = evolve(before ?? initialOrderFold(id));
    if (after === before) return;
    this.orders.set(id, { ...row ?? newRow(2 * position), fold: after });
    this.changed.order.add(id);
    const now = this.#releaseOf(after);
    const isOld = isHistoricOrder(fact, before, now, this.#options);
    this.#enter(event, { entity: "order", id, before, after, isOld });
    if (isOld && !imported) {
      const isNoted = isListed(fact, now, this.#options.goLive ?? "");
      this.#setHistoric(id, isNoted ? 2 : 1);
    }
    // What a person moves is known before what the order then says.
    const gave = before === undefined ? null : deliveredPurchase(before);
    const took = deliveredPurchase(after);
    if (gave?.kind !== took?.kind || gave?.name !== took?.name) {
      const live = !imported;
      this.transitions.push({
        ...{ orderId: id, gave, took, position, recordedAt, live },
      });
    }
    if (now === null) return;
    const last = before === undefined ? null : this.#releaseOf(before);
    if (last !== null && isSameRelease(last, now)) return;
    this.transitions.push({
      ...{ orderId: id, now, position, recordedAt },
      live: this.#isLive(event, "order", id, isOld),
      historic: isOld && !imported,
      byExpectation: fact.orderId === null,
    });
  }

  #user(id: string, event: BatchEvent): void {
    const { fact } = event;
    const row = this.users.get(id);
    const before = row?.fold;
    const after = evolveUser(before ?? initialUserFold(id), fact);
    if (after === before) return;
    const no = 2 * fact.position + 1;
    this.users.set(id, { ...row ?? newRow(no), fold: after });
    this.changed.user.add(id);
    const isOld = isHistoricUser(fact, before, this.#options);
    this.#enter(event, { entity: "user", id, before, after, isOld });
  }

  /** Collects what machines enter, and what a webhook asks to confirm. */
  #enter(
    event: BatchEvent,
    { entity, id, before, after, isOld }: {
      readonly entity: Entity;
      readonly id: string;
      readonly before: AnyFold | undefined;
      readonly after: AnyFold;
      readonly isOld: boolean;
    },
  ): void {
    const { fact, imported } = event;
    const { position, recordedAt } = fact;
    const last = before === undefined ? [] : this.#machinesOf(before);
    for (const { machine, visible } of this.#machinesOf(after)) {
      if (visible === null) continue;
      const previous = last.find((one) => one.machine === machine)?.visible ??
        null;
      const { status, trust } = visible;
      if (previous?.status === status && previous.trust === trust) continue;
      // What a webhook claimed of a user before was new.
      const historic = isOld && !imported &&
        (entity === "order" || previous?.status !== status);
      this.transitions.push({
        ...{ entity, machine, id, trust, status, previous },
        reverses: before === undefined
          ? []
          : finalsOf(before, machine).filter((final) => final !== status),
        ...{ entry: 1, logged: null, after: [], position, recordedAt },
        live: this.#isLive(event, entity, id, historic),
        ...{ withheld: false, historic },
      });
    }
    if (event.event.kind !== "webhook" || imported) return;
    const urgency = urgencyOf(before, after);
    const known = this.toConfirm[entity].get(id) ??
      { at: "", urgency: 0, claimedBy: 0 };
    this.toConfirm[entity].set(id, {
      at: known.at < recordedAt ? recordedAt : known.at,
      urgency: urgency > known.urgency ? urgency : known.urgency,
      claimedBy: urgency > 0 ? position : known.claimedBy,
    });
  }

  /** Whether it is sent; then a historic order is no longer historic. */
  #isLive(
    { imported }: BatchEvent,
    entity: Entity,
    id: string,
    isOld: boolean,
  ): boolean {
    if (imported || isOld) return false;
    if (entity === "order") this.#setHistoric(id, 0);
    return true;
  }

  #setHistoric(id: string, historic: number): void {
    const row = this.orders.get(id);
    if (row !== undefined) this.orders.set(id, { ...row, historic });
  }
}

function remembering<Key extends object, Value>(make: (key: Key) => Value) {
  const known = new WeakMap<Key, { readonly is: Value }>();
  return (key: Key): Value => {
    const one = known.get(key) ?? { is: make(key) };
    known.set(key, one);
    return one.is;
  };
}

function newRow(no: number) {
  return { no, told: NOTHING_TOLD, historic: 0 };
}

interface MachineStatus {
  readonly machine: MachineName;
  readonly visible: VisibleStatus | null;
}

function machinesOf(fold: AnyFold): readonly MachineStatus[] {
  return "orderId" in fold ? orderMachines(fold) : userMachines(fold);
}

export function orderMachines(fold: OrderFold): readonly MachineStatus[] {
  const look = countingLook(fold);
  const isSettled = look !== null && (look.final || look.verdict === "reorged");
  return [
    { machine: "order", visible: decideOrderStatus(fold) },
    {
      machine: "witness",
      visible: isSettled ? { status: look.verdict, trust: "confirmed" } : null,
    },
  ];
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

function finalsOf(fold: AnyFold, machine: MachineName): readonly string[] {
  if ("orderId" in fold) {
    return machine !== "order"
      ? []
      : fold.observedStatuses.map(({ status }) => status).filter(isFinal);
  }
  if (machine === "ban") return [];
  return (machine === "lkyc" ? fold.observedLkyc : fold.observedFkyc)
    .filter((state) => verificationRow(state).final);
}

function linksOfTerms({ latest, expectations }: OrderFold): FactLink[] {
  const references = new Set(expectations.map(({ reference }) => reference));
  return [
    ...[...references].flatMap((link) =>
      link === null
        ? []
        : [{ kind: "reference", link, confirmed: true } as const]
    ),
    ...latest?.clickId
      ? [{ kind: "click", link: latest.clickId, confirmed: true } as const]
      : [],
  ];
}

function isSameRelease(a: OrderRelease, b: OrderRelease): boolean {
  return a.release === b.release && a.reason === b.reason &&
    a.byHand === b.byHand && a.purchase?.kind === b.purchase?.kind &&
    a.purchase?.name === b.purchase?.name;
}
