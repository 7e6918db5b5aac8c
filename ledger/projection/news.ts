import { type OrderFold, orderStatus } from "../fold/order_fold.ts";
import { type UserFold, userStatus } from "../fold/user_fold.ts";
import type { WindowEvent } from "./fold_window.ts";
import type { Entity, NewTransition } from "./transition.ts";

/** What a window of events brings besides states. */
export interface Found {
  /** Statuses entered, in order; a later step keeps first entries only. */
  readonly transitions: readonly NewTransition[];
  /** Orders named by fresh webhooks, and when the last of them came. */
  readonly ordersToConfirm: ReadonlyMap<string, string>;
  /** Users named by fresh webhooks, and when the last of them came. */
  readonly usersToConfirm: ReadonlyMap<string, string>;
}

type Decided = Pick<NewTransition, "status" | "trust">;

/** Gathers what subscribers and the poller are told of, event by event. */
export class News {
  readonly #transitions: NewTransition[] = [];
  readonly #ordersToConfirm = new Map<string, string>();
  readonly #usersToConfirm = new Map<string, string>();
  readonly #orders = new Map<string, Decided>();
  readonly #users = new Map<string, Decided>();

  /** What was gathered. */
  get found(): Found {
    return {
      transitions: this.#transitions,
      ordersToConfirm: this.#ordersToConfirm,
      usersToConfirm: this.#usersToConfirm,
    };
  }

  /**
   * Takes in what an event did to an order.
   *
   * @param one The event.
   * @param before What was known of the order; undefined when nothing was.
   * @param after What is known now.
   */
  ofOrder(
    one: WindowEvent,
    before: OrderFold | undefined,
    after: OrderFold,
  ): void {
    const id = after.orderId;
    const was = this.#orders.get(id) ??
      (before === undefined ? null : orderStatus(before));
    const is = orderStatus(after);
    this.#orders.set(id, is);
    this.#compare("order", id, one, was, is);
    keepLatest(this.#ordersToConfirm, id, one);
  }

  /**
   * Takes in what an event did to a user.
   *
   * @param one The event.
   * @param before What was known of the user; undefined when nothing was.
   * @param after What is known now.
   */
  ofUser(
    one: WindowEvent,
    before: UserFold | undefined,
    after: UserFold,
  ): void {
    const id = after.userId;
    const was = this.#users.get(id) ??
      (before === undefined ? null : userStatus(before));
    const is = userStatus(after);
    this.#users.set(id, is);
    this.#compare("user", id, one, was, is);
    keepLatest(this.#usersToConfirm, id, one);
  }

  #compare(
    entity: Entity,
    id: string,
    { fact, imported }: WindowEvent,
    was: Decided | null,
    { status, trust }: Decided,
  ): void {
    if (was?.status === status && was.trust === trust) return;
    this.#transitions.push({
      entity,
      id,
      trust,
      status,
      position: fact.position,
      recordedAt: fact.recordedAt,
      live: !imported,
    });
  }
}

function keepLatest(
  times: Map<string, string>,
  id: string,
  { fact, delivered, imported }: WindowEvent,
): void {
  if (!delivered || imported) return;
  const other = times.get(id);
  if (other === undefined || other < fact.recordedAt) {
    times.set(id, fact.recordedAt);
  }
}
