import type { Entity } from "../entity.ts";
import type { BatchEvent, Collected } from "./batch.ts";
import type {
  MachineName,
  NewTransition,
  VisibleStatus,
} from "./transition.ts";

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
}

/** Gathers what subscribers and the poller are told of, event by event. */
export class TransitionCollector implements Collected {
  /** Statuses entered, in order. */
  readonly transitions: NewTransition[] = [];
  /** Orders named by fresh webhooks, and when the last of them came. */
  readonly ordersToConfirm = new Map<string, string>();
  /** Users named by fresh webhooks, and when the last of them came. */
  readonly usersToConfirm = new Map<string, string>();
  readonly #machines = {
    order: new Map<string, readonly MachineStatus[]>(),
    user: new Map<string, readonly MachineStatus[]>(),
  };

  /**
   * Takes in what an event did to an order or user.
   *
   * @param event The event.
   * @param evolved What it did.
   */
  add(
    event: BatchEvent,
    { entity, id, before, after, finals }: Evolved,
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
      this.transitions.push({
        entity,
        machine,
        id,
        trust,
        status,
        previous,
        reverses: finals(machine).filter((final) => final !== status),
        position: fact.position,
        recordedAt: fact.recordedAt,
        live: !imported,
      });
    }
    if (!delivered || imported) return;
    const times = entity === "order"
      ? this.ordersToConfirm
      : this.usersToConfirm;
    if ((times.get(id) ?? "") < fact.recordedAt) times.set(id, fact.recordedAt);
  }
}
