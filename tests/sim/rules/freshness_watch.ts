import { type Freshness, readFreshness } from "../../../sync/mod.ts";
import type { Driver, Entity } from "../../../ledger/for_sync.ts";
import { readDeepCycles } from "../../../sync/polling/poll_status.ts";
import { isOdd } from "../chores/odd_ones.ts";
import type { Dice } from "../world/dice.ts";
import { databaseNow } from "../../../ledger/for_testing.ts";
import { check } from "../world/journal.ts";
import type { World } from "../world/world.ts";
import { areClocksTrue } from "./true_clocks.ts";
import { rows } from "./stored.ts";

/** Orders and users whose freshness is looked at each time. */
const someAtOnce = 6;

/** Clocks and requests on their way, in milliseconds. */
const slackMs = 60_000;

/** The longest that a poller of a plan lets something wait that is due. */
const rarelyMs = 3_600_000;

/** Something that the service has shown, and with which nothing is odd. */
interface Known {
  readonly entity: Entity;
  readonly id: string;
  /** Status of the last reading; null for users. */
  readonly status: string | null;
}

/**
 * Holds what the ledger says of its freshness against the service: the status
 * read last is one that the service has had since it was asked for last.
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
   * @throws {Broken} When an answer is older than the ledger says.
   */
  async look(): Promise<void> {
    const { plan, sandbox } = this.#world;
    // The ledger counts by its own clock, the service by the service's, which goes
    // right once its faults have ended.
    if (!areClocksTrue(this.#world)) return;
    const clockSkewMs = Math.min(
      plan.service.clockSkewMs ?? 0,
      sandbox.faults.clockSkewMs ?? 0,
    );
    for (const one of await this.#some()) {
      const { requestedAt } = await this.#freshness(one);
      if (requestedAt === null || one.status === null) continue;
      const sinceMs = Date.parse(requestedAt) + clockSkewMs - slackMs;
      const had = this.#statusesSince(one.id, sinceMs);
      check(
        "no answer is older than the ledger says",
        had.has(one.status),
        () =>
          `order ${one.id} was read ${one.status}, and since ${requestedAt} ` +
          `it is ${[...had].join()}`,
      );
    }
  }

  /**
   * Lets polling go on in peace until the whole past was read twice, and holds
   * that every answer was renewed.
   *
   * @throws {Broken} When an answer should have been renewed by now.
   */
  async lookInPeace(): Promise<void> {
    const { clock, plan } = this.#world;
    if (!plan.running) return;
    const read = () => readDeepCycles(this.#driver());
    const { cycles } = (await read()).deep;
    for (let half = 0; half < 96; half++) {
      await clock.advance(30 * 60_000);
      if ((await read()).deep.cycles >= cycles + 2) break;
    }
    const since = (await read()).allAskedSince ?? "";
    for (const one of await this.#some()) {
      const { doubt, nextAt, requestedAt } = await this.#freshness(one);
      // A poller that looks rarely is late by so much.
      const isSoon = this.#world.now() - Date.parse(nextAt ?? "") < rarelyMs;
      check(
        "every answer is renewed by each cycle through the past",
        (doubt !== "behind" || isSoon) && (requestedAt ?? "") >= since,
        () =>
          `${one.entity} ${one.id} was asked for at ${requestedAt}, and ` +
          `everything should be since ${since}`,
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
