import type { OrderState } from "../../../ledger/mod.ts";
import { orderOf } from "../rules/disagreements.ts";
import { check } from "../world/journal.ts";
import { passing } from "../world/virtual_time.ts";
import type { World } from "../world/world.ts";
import { type ChainOrder, CONFIRMATIONS } from "./chain_order.ts";
import type { VirtualChain } from "./virtual_chain.ts";
import { isAsStated } from "./virtual_nodes.ts";

const hourMs = 3_600_000;

/** Holds what the ledger says of the scene's orders against the chain itself. */
export class ChainRules {
  readonly #world: World;
  readonly #chain: VirtualChain;
  readonly #orders: readonly ChainOrder[];
  /** Orders of which the chain has shown the whole amount, deep enough. */
  readonly #arrived = new Set<string>();
  /** Orders of which it has shown something else, deep enough. */
  readonly #differed = new Set<string>();

  constructor(
    world: World,
    chain: VirtualChain,
    orders: readonly ChainOrder[],
  ) {
    this.#world = world;
    this.#chain = chain;
    this.#orders = orders;
  }

  /** Notes what the chain shows now, before anybody is asked. */
  note(): void {
    for (const { orderId, stated } of this.#orders) {
      const placed = this.#chain.find(stated.txId);
      if (placed === null || placed.depth < CONFIRMATIONS) continue;
      const shown = isAsStated(placed.transfer, stated)
        ? this.#arrived
        : this.#differed;
      shown.add(orderId);
    }
  }

  /**
   * Whatever nodes said, and however many: only what the chain has shown
   * counts, for an order and against it.
   *
   * @throws {Broken} When something else does.
   */
  async hold(): Promise<void> {
    for (const { orderId, fate } of this.#orders) {
      const state = await orderOf(this.#world, orderId);
      check(
        "nothing is released before the chain has shown all of it, and deep enough",
        this.#arrived.has(orderId) ||
          (state?.release !== "yes" && !this.#isTold(orderId)),
        () => `order ${orderId}, ${fate}, is released: ${said(state)}`,
      );
      check(
        "nobody is told of another transfer that the chain has not shown",
        this.#differed.has(orderId) ||
          state?.attention.includes("chain_differs") !== true,
        () => `order ${orderId}, ${fate}: ${said(state)}`,
      );
    }
  }

  /**
   * Once all nodes answer and everything is deep enough, each order is either
   * shipped or a person's task.
   *
   * @throws {Broken} When one is neither.
   */
  async settled(): Promise<void> {
    const tasks = await this.#tasks();
    for (const { orderId, fate } of this.#orders) {
      const state = await orderOf(this.#world, orderId);
      const listed = tasks.get(orderId) ?? "";
      if (this.#arrived.has(orderId)) {
        check(
          "what the chain has shown is shipped",
          state?.release === "yes" && this.#isShipped(orderId),
          () => `order ${orderId}, ${fate}, has arrived: ${said(state)}`,
        );
        continue;
      }
      const task = this.#differed.has(orderId)
        ? "chain_differs"
        : "witness_missing";
      check(
        "what the chain shows otherwise, or not at all, is held and somebody's task",
        state?.release === "wait" && !this.#isShipped(orderId) &&
          listed.split(" ").includes(task),
        () =>
          `order ${orderId}, ${fate}, is listed as ${listed || "nothing"}, ` +
          `and not ${task}: ${said(state)}`,
      );
    }
  }

  /**
   * What the chain has lost is not released any more.
   *
   * @throws {Broken} When it still is.
   */
  withdrawn(orderId: string, state: OrderState | null): void {
    check(
      "what the chain has lost again is not released any more",
      state?.release === "wait",
      () => `order ${orderId}: ${said(state)}`,
    );
  }

  /** Whether a receiver was told to release it. */
  #isTold(orderId: string): boolean {
    return this.#world.journal.told.has(`order:${orderId}:release.yes`) ||
      this.#isShipped(orderId);
  }

  #isShipped(orderId: string): boolean {
    return this.#world.shop.shipments.some((one) => one.orderId === orderId);
  }

  async #tasks(): Promise<ReadonlyMap<string, string>> {
    const { front, clock } = this.#world;
    const listed = new Map<string, string>();
    const { incarnation } = front;
    if (incarnation === null) return listed;
    await passing(
      clock,
      (async () => {
        for await (
          const { order, kinds } of incarnation.ledger.attention()
        ) {
          listed.set(order.orderId, kinds.join(" "));
        }
      })(),
      hourMs,
    );
    return listed;
  }
}

function said(state: OrderState | null): string {
  if (state === null) return "nothing is known";
  const { release, releaseReason, witness } = state;
  return `${release} ${releaseReason}, the chain ${
    witness === null ? "was not asked" : `${witness.verdict} ${witness.final}`
  }`;
}
