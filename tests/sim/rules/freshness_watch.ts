import { type Freshness, readFreshness } from "../../../sync/mod.ts";
import type { Driver, Entity } from "../../../ledger/for_sync.ts";
import { readPollBound } from "../../../sync/testing/mod.ts";
import { isOdd } from "../chores/odd_ones.ts";
import type { Dice } from "../world/dice.ts";
import { databaseNow } from "../../../ledger/for_testing.ts";
import { check } from "../world/journal.ts";
import type { World } from "../world/world.ts";
import { rows } from "./stored.ts";

/** Orders and users whose freshness is looked at each time. */
const someAtOnce = 6;

/** Clocks and requests on their way, in milliseconds. */
const slackMs = 60_000;

/** Something that the service has shown, and with which nothing is odd. */
interface Known {
  readonly entity: Entity;
  readonly id: string;
  /** Status of the last reading; null for users. */
  readonly status: string | null;
}

/**
 * Holds what the ledger says of its freshness against the service: the status
 * read last is one that the service has had since the bound ago.
 */
export class FreshnessWatch {
  readonly #world: World;
  readonly #dice: Dice;

  constructor(world: World) {
    this.#world = world;
    this.#dice = world.dice.fork("freshness");
  }

  /**
   * Looks at some orders and users.
   *
   * @throws {Broken} When an answer is older than its bound.
   */
  async look(): Promise<void> {
    const { plan } = this.#world;
    // A poller that runs only now and then promises nothing.
    if (!plan.running) return;
    // The ledger counts by its own clock, which may have been set back; the
    // service dates its statuses by the service's.
    const { clockSkewMs = 0 } = plan.service;
    const serviceNowMs = this.#world.now() + clockSkewMs;
    for (const one of await this.#some()) {
      const { maxAgeMs } = await this.#freshness(one);
      if (maxAgeMs === null || one.status === null) continue;
      const sinceMs = serviceNowMs - maxAgeMs - slackMs;
      const had = this.#statusesSince(one.id, sinceMs);
      check(
        "no answer is older than its bound",
        had.has(one.status),
        () =>
          `order ${one.id} was read ${one.status}, and for ` +
          `${maxAgeMs / 60_000} minutes it is ${[...had].join()}`,
      );
    }
  }

  /**
   * Lets polling go on in peace for as long as it may take, and holds that
   * every answer was renewed.
   *
   * @param healedMs When the last fault ended, in milliseconds since the epoch.
   * @throws {Broken} When an answer should have been renewed by now.
   */
  async lookInPeace(healedMs: number): Promise<void> {
    const { clock, plan } = this.#world;
    const bound = plan.running ? await readPollBound(this.#driver()) : null;
    if (bound === null) return;
    const endMs = healedMs + bound.staleness.anythingMs + slackMs;
    await clock.advance(Math.max(0, endMs - clock.now()));
    for (const one of await this.#some()) {
      const { unboundedReason, requestedAt } = await this.#freshness(one);
      check(
        "every answer is renewed within its bound",
        unboundedReason !== "behind",
        () =>
          `${one.entity} ${one.id} was asked for at ${requestedAt}, and ` +
          `it is ${new Date(this.#world.now()).toISOString()}`,
      );
    }
  }

  async #some(): Promise<Known[]> {
    const found = await rows(
      this.#world,
      `SELECT entity, id, status FROM observations WHERE found = 1
        ORDER BY entity, id`,
    );
    const known = found.map(([entity, id, status]): Known => ({
      entity: entity === "user" ? "user" : "order",
      id: String(id),
      status: status === null ? null : String(status),
    })).filter(({ id }) => !isOdd(this.#world, id));
    if (known.length <= someAtOnce) return known;
    return Array.from({ length: someAtOnce }, () => this.#dice.pick(known));
  }

  #freshness({ entity, id }: Known): Promise<Freshness> {
    return readFreshness(this.#driver(), entity, id, this.#world.now());
  }

  /** The database, with the simulation's clock for its own. */
  #driver(): Driver {
    const { store } = this.#world;
    const now = String(Math.floor(this.#world.now()));
    return {
      location: store.location,
      batch: (statements, mode) =>
        store.batch(
          statements.map((one) => ({
            ...one,
            sql: one.sql.replaceAll(databaseNow, now),
          })),
          mode,
        ),
      close: () => Promise.resolve(),
    };
  }

  #statusesSince(orderId: string, sinceMs: number): Set<string> {
    const { sandbox, journal } = this.#world;
    const order = sandbox.order(orderId) ?? journal.removed.get(orderId);
    const history = order?.history ?? [];
    return new Set(
      history.filter((_, at) => (history[at + 1]?.atMs ?? Infinity) >= sinceMs)
        .map(({ status }) => status.toLowerCase()),
    );
  }
}
