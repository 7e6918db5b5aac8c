import type { Transition } from "../machines/transition.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  beginReleases,
  releaseDeliveriesOf,
  type ReleaseDelivery,
  selectReleaseDeliveries,
} from "../store/tables/subscriptions/release_deliveries.ts";

/** What a gate works with. */
export interface ReleaseGateParts {
  /** The database. */
  readonly driver: Driver;
  /** Name of the subscription. */
  readonly name: string;
  /** Statements that begin each write. */
  readonly guard: () => readonly Statement[];
  /** Whether the subscription takes `order.release.yes`. */
  readonly takesYes: boolean;
  /** Which transitions the subscription takes. */
  readonly matches: (transition: Transition) => boolean;
}

interface Waiting {
  readonly orderId: string;
  /** Place of the `yes` to begin; null to look only. */
  readonly seq: number | null;
  readonly resolve: (found: ReleaseDelivery | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Decides what of the release log is handed to a handler: a `yes` that was
 * withdrawn meanwhile is parked, and handed over under its own key once the
 * order is released again. A withdrawal says that it takes back a `yes` to the
 * handlers that were called with it.
 */
export class ReleaseGate {
  readonly #parts: ReleaseGateParts;
  #waiting: Waiting[] = [];
  #working = false;

  /** @param parts What it works with. */
  constructor(parts: ReleaseGateParts) {
    this.#parts = parts;
  }

  /**
   * What to hand over in place of a transition.
   *
   * @param transition What is next in the log, or in the queue.
   * @returns The transition, as the handler is to see it; null for nothing.
   * @throws {LedgerError} When the database fails.
   */
  async pass(transition: Transition): Promise<Transition | null> {
    const { logged, id: orderId, seq } = transition;
    const { takesYes, matches } = this.#parts;
    if (logged === null || !takesYes) return transition;
    if (logged.entered === "yes") {
      const found = await this.#ask(orderId, seq);
      return found?.state === "begun" ? transition : null;
    }
    const found = await this.#ask(orderId, null);
    if (logged.entered !== "restored") {
      return { ...transition, reverses: found?.begun ? ["yes"] : [] };
    }
    if (found !== null && found.state !== "taken" && found.yes !== null) {
      const begun = await this.#ask(orderId, found.yes.seq);
      return begun?.state === "begun" ? found.yes : null;
    }
    return matches(transition) ? transition : null;
  }

  #ask(orderId: string, seq: number | null): Promise<ReleaseDelivery | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ orderId, seq, resolve, reject });
      if (!this.#working) void this.#work();
    });
  }

  /** What is asked for while a write is under way is written with the next. */
  async #work(): Promise<void> {
    this.#working = true;
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        const found = await this.#write(group);
        for (const { orderId, resolve } of group) {
          resolve(found.get(orderId) ?? null);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#working = false;
  }

  async #write(
    group: readonly Waiting[],
  ): Promise<ReadonlyMap<string, ReleaseDelivery>> {
    const { driver, name, guard } = this.#parts;
    const begin = group.flatMap(({ orderId, seq }) =>
      seq === null ? [] : [{ orderId, seq }]
    );
    const results = await driver.batch([
      ...guard(),
      ...(begin.length === 0 ? [] : [beginReleases(name, begin)]),
      selectReleaseDeliveries(name, group.map(({ orderId }) => orderId)),
    ], "write");
    return releaseDeliveriesOf(results.at(-1));
  }
}
