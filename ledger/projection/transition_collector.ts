import type {
  Entity,
  MachineName,
  VisibleStatus,
} from "../machines/transition.ts";
import type { OrderRelease } from "../releases/order_release.ts";
import type { HandChange } from "../releases/release_log.ts";
import type { Urgency } from "../store/tables/polling/request_queues.ts";
import type {
  BatchEvent,
  Collected,
  CollectedTransition,
  ToConfirm,
} from "./batch.ts";

/** Where a machine stands. */
export interface MachineStatus {
  /** Which machine. */
  readonly machine: MachineName;
  /** What it shows; null while it shows nothing. */
  readonly visible: VisibleStatus | null;
}

/** What an event did to an order or user. */
export interface Evolved {
  /** Which of the two. */
  readonly entity: Entity;
  /** Order or user identifier. */
  readonly id: string;
  /** Where the machines stood before the batch; none when it is new. */
  readonly before: () => readonly MachineStatus[];
  /** Where they stand after the event. */
  readonly after: readonly MachineStatus[];
  /** Final statuses that readings had shown before the event. */
  readonly finals: (machine: MachineName) => readonly string[];
  /** How urgent it makes a read. */
  readonly urgency: Urgency;
  /** Whether a status entered had been entered before the ledger went live. */
  readonly historic?:
    | ((entered: VisibleStatus, previous: VisibleStatus | null) => boolean)
    | undefined;
}

/** What an event did to the release of an order. */
export interface Decided {
  /** The order. */
  readonly id: string;
  /** What was decided before the batch; null when nothing was. */
  readonly before: () => OrderRelease | null;
  /** What is decided after the event. */
  readonly after: OrderRelease;
  /** Whether it had been so before the ledger went live. */
  readonly historic: boolean;
}

/** Collects what subscribers and the poller learn, event by event. */
export class TransitionCollector implements Collected {
  /** Statuses entered, in order. */
  readonly transitions: CollectedTransition[] = [];
  /** Orders named by fresh webhooks. */
  readonly ordersToConfirm = new Map<string, ToConfirm>();
  /** Users named by fresh webhooks. */
  readonly usersToConfirm = new Map<string, ToConfirm>();
  /** Orders that were final before the ledger went live; whether it is listed. */
  readonly historic = new Map<string, boolean>();
  /** Orders of which something new is sent. */
  readonly revived = new Set<string>();
  readonly #machines = {
    order: new Map<string, readonly MachineStatus[]>(),
    user: new Map<string, readonly MachineStatus[]>(),
  };
  readonly #releases = new Map<string, OrderRelease | null>();

  /**
   * Takes in what an event did to an order or user.
   *
   * @param event The event.
   * @param evolved What it did.
   */
  add(
    event: BatchEvent,
    { entity, id, before, after, finals, historic, urgency }: Evolved,
  ): void {
    const machines = this.#machines[entity];
    const last = machines.get(id) ?? before();
    machines.set(id, after);
    const { fact, delivered, imported } = event;
    for (const { machine, visible } of after) {
      if (visible === null) continue;
      const previous = last.find((one) => one.machine === machine)?.visible ??
        null;
      const { status, trust } = visible;
      if (previous?.status === status && previous.trust === trust) continue;
      const isOld = !imported && (historic?.(visible, previous) ?? false);
      this.transitions.push({
        entity,
        machine,
        id,
        trust,
        status,
        previous,
        reverses: finals(machine).filter((final) => final !== status),
        entry: 1,
        logged: null,
        after: [],
        position: fact.position,
        recordedAt: fact.recordedAt,
        live: this.#isLive(event, entity, id, isOld),
        withheld: false,
        historic: isOld,
      });
    }
    if (!delivered || imported) return;
    const named = entity === "order"
      ? this.ordersToConfirm
      : this.usersToConfirm;
    const known = named.get(id) ?? { at: "", urgency: 0, claimedBy: 0 };
    named.set(id, {
      at: known.at < fact.recordedAt ? fact.recordedAt : known.at,
      urgency: urgency > known.urgency ? urgency : known.urgency,
      claimedBy: urgency > 0 ? fact.position : known.claimedBy,
    });
  }

  /**
   * Takes in what an event did to the release of an order.
   *
   * @param event The event.
   * @param decided What it did.
   */
  addRelease(
    event: BatchEvent,
    { id, before, after, historic }: Decided,
  ): void {
    const { fact } = event;
    const isKnown = this.#releases.has(id);
    const last = isKnown ? this.#releases.get(id) ?? null : before();
    this.#releases.set(id, after);
    if (last !== null && isSameRelease(last, after)) return;
    this.transitions.push({
      orderId: id,
      isFirst: last === null,
      now: after,
      position: fact.position,
      recordedAt: fact.recordedAt,
      live: this.#isLive(event, "order", id, historic),
      historic: historic && !event.imported,
      byExpectation: fact.orderId === null,
    });
  }

  /**
   * Takes in which purchases a person moved.
   *
   * @param event The event that says so.
   * @param change Which ones.
   */
  addHand(
    { fact: { position, recordedAt }, imported }: BatchEvent,
    change: Pick<HandChange, "orderId" | "gave" | "took">,
  ): void {
    const live = !imported;
    this.transitions.push({ ...change, position, recordedAt, live });
  }

  /**
   * Takes note of an order whose first reading is historic.
   *
   * @param orderId The order.
   * @param isListed Whether it is listed for a person.
   */
  addHistoric(orderId: string, isListed: boolean): void {
    this.historic.set(orderId, isListed);
    this.revived.delete(orderId);
  }

  /**
   * Whether transitions are sent; then a historic order is no longer historic.
   */
  #isLive(
    { imported }: BatchEvent,
    entity: Entity,
    id: string,
    historic = false,
  ): boolean {
    if (imported || historic) return false;
    if (entity === "order") {
      this.historic.delete(id);
      this.revived.add(id);
    }
    return true;
  }
}

function isSameRelease(a: OrderRelease, b: OrderRelease): boolean {
  return a.release === b.release && a.reason === b.reason &&
    a.byHand === b.byHand &&
    a.purchase?.kind === b.purchase?.kind &&
    a.purchase?.name === b.purchase?.name;
}
