import type { Entity } from "../entity.ts";
import type { BatchEvent, Collected } from "./batch.ts";
import type { NewTransition } from "./transition.ts";

type StatusAndTrust = Pick<NewTransition, "status" | "trust">;

/** Gathers what subscribers and the poller are told of, event by event. */
export class TransitionCollector implements Collected {
  /** Statuses entered, in order. */
  readonly transitions: NewTransition[] = [];
  /** Orders named by fresh webhooks, and when the last of them came. */
  readonly ordersToConfirm = new Map<string, string>();
  /** Users named by fresh webhooks, and when the last of them came. */
  readonly usersToConfirm = new Map<string, string>();
  readonly #statuses = {
    order: new Map<string, StatusAndTrust>(),
    user: new Map<string, StatusAndTrust>(),
  };

  /**
   * Takes in what an event did to an order or user.
   *
   * @param entity Which of the two.
   * @param id Order or user identifier.
   * @param event The event.
   * @param before Status before the batch; null when the entity is new.
   * @param after Status after the event.
   */
  add(
    entity: Entity,
    id: string,
    event: BatchEvent,
    before: () => StatusAndTrust | null,
    after: StatusAndTrust,
  ): void {
    const statuses = this.#statuses[entity];
    const last = statuses.get(id) ?? before();
    statuses.set(id, after);
    const { fact, delivered, imported } = event;
    const { status, trust } = after;
    if (last?.status !== status || last.trust !== trust) {
      const { position, recordedAt } = fact;
      const live = !imported;
      this.transitions.push(
        { entity, id, trust, status, position, recordedAt, live },
      );
    }
    if (!delivered || imported) return;
    const times = entity === "order"
      ? this.ordersToConfirm
      : this.usersToConfirm;
    if ((times.get(id) ?? "") < fact.recordedAt) times.set(id, fact.recordedAt);
  }
}
