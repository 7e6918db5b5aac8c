import { grouped } from "../../core/waiting/grouped.ts";
import type { Transition } from "../machines/transition.ts";
import {
  type CurrentState,
  foundStates,
  stateStatements,
} from "./state_loader.ts";
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

/** What may be handed over. */
export interface Passed {
  /** The transition, as the handler is to see it; null for nothing. */
  readonly transition: Transition | null;
  /** The order as the gate saw it; null where the gate did not look. */
  readonly current: CurrentState | null;
}

/** What became of the `yes` of an order, and the order, seen at once. */
interface Seen {
  readonly found: ReleaseDelivery | null;
  readonly current: CurrentState;
}

interface Asked {
  readonly orderId: string;
  /** Place of the `yes` to begin; null to look only. */
  readonly seq: number | null;
}

/**
 * Decides what of the release log is handed to a handler: a `yes` that was
 * withdrawn meanwhile is parked, and handed over under its own key once the
 * order is released again. A withdrawal says that it takes back a `yes` to the
 * handlers that were called with it.
 */
export class ReleaseGate {
  readonly #parts: ReleaseGateParts;
  readonly #ask: (asked: Asked) => Promise<Seen>;

  /** @param parts What it works with. */
  constructor(parts: ReleaseGateParts) {
    this.#parts = parts;
    this.#ask = grouped((asked: readonly Asked[]) => this.#write(asked));
  }

  /**
   * What to hand over in place of a transition.
   *
   * @param transition What is next in the log, or in the queue.
   * @returns What to hand over, and the order as it is at that moment.
   * @throws {LedgerError} When the database fails.
   */
  async pass(transition: Transition): Promise<Passed> {
    const { logged, id: orderId, seq } = transition;
    const { takesYes, matches } = this.#parts;
    if (logged === null || !takesYes) return { transition, current: null };
    if (logged.entered === "yes") {
      return begun(transition, await this.#ask({ orderId, seq }));
    }
    const { found, current } = await this.#ask({ orderId, seq: null });
    if (logged.entered !== "restored") {
      const reverses = found?.begun ? transition.reverses : [];
      return { transition: { ...transition, reverses }, current };
    }
    if (found !== null && found.state !== "taken" && found.yes !== null) {
      const { seq } = found.yes;
      return begun(found.yes, await this.#ask({ orderId, seq }));
    }
    return { transition: matches(transition) ? transition : null, current };
  }

  async #write(
    group: readonly Asked[],
  ): Promise<(asked: Asked) => Seen> {
    const { driver, name, guard } = this.#parts;
    const wanted = group.map(({ orderId: id }) =>
      ({ entity: "order", id }) as const
    );
    const states = stateStatements(wanted);
    const begin = group.flatMap(({ orderId, seq }) =>
      seq === null ? [] : [{ orderId, seq }]
    );
    const results = await driver.batch([
      ...guard(),
      ...(begin.length === 0 ? [] : [beginReleases(name, begin)]),
      selectReleaseDeliveries(name, group.map(({ orderId }) => orderId)),
      ...states,
    ], "write");
    const found = releaseDeliveriesOf(results.at(-1 - states.length));
    const { position, stateOf } = foundStates(
      wanted,
      results.slice(-states.length),
    );
    return ({ orderId: id }) => ({
      found: found.get(id) ?? null,
      current: { position, state: stateOf({ entity: "order", id }) },
    });
  }
}

/** A `yes` is handed over where it was marked as begun. */
function begun(yes: Transition, { found, current }: Seen): Passed {
  return { transition: found?.state === "begun" ? yes : null, current };
}
