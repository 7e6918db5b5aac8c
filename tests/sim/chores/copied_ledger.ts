import type { Ledger } from "../../../ledger/mod.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import { ledgerOn, retrying } from "../../../ledger/for_server.ts";
import { FileDriver } from "../../../ledger/testing/mod.ts";
import { ChainWatch } from "../rules/chain_watch.ts";
import type { Dice } from "../world/dice.ts";
import { eventText } from "../world/event_text.ts";
import { FaultyDriver, NO_STORE_FAULTS } from "../world/faulty_driver.ts";
import { foldCode } from "../world/fold_versions.ts";
import { check } from "../world/journal.ts";
import { Life } from "../world/life.ts";
import { sameStates } from "../rules/same_states.ts";
import { Shadow } from "../rules/shadow.ts";
import { readSnapshot, type Snapshot, UNSEEN } from "../rules/snapshot.ts";
import type { World } from "../world/world.ts";

/** Attempts under faults; what still fails then is tried in peace. */
const faultyAttempts = 3;

/** A ledger of its own that was made from ours. */
export class CopiedLedger {
  readonly #world: World;
  readonly #dice: Dice;
  /** The database without faults. */
  readonly store: Driver;

  /**
   * @param world Where it was made.
   * @param dice Decide its faults.
   * @param path Its file, or memory.
   */
  constructor(world: World, dice: Dice, path: string = ":memory:") {
    this.#world = world;
    this.#dice = dice;
    this.store = new FileDriver({ path, busyTimeoutMs: 50 });
  }

  /**
   * Does work in a process that fails and crashes as all do, from the
   * beginning until it is done.
   */
  async finish<T>(
    foldVersion: number,
    work: (ledger: Ledger) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 0;; attempt++) {
      const life = new Life(() => {});
      try {
        const done = this.#open(life, foldVersion, attempt < faultyAttempts)
          .then(async (ledger) => ({ result: await work(ledger) }));
        const outcome = await Promise.race([done, life.died]);
        if (outcome !== undefined) return outcome.result;
      } catch (error) {
        if (attempt >= faultyAttempts || !this.#world.explains(error)) {
          throw error;
        }
      }
    }
  }

  /**
   * Holds all of it against our ledger and against itself.
   *
   * @param rule What it is to be.
   * @throws {Broken} When it is not.
   */
  async inspect(rule: string): Promise<Snapshot> {
    const { world, copy } = { world: this.#world, copy: this.store };
    const snapshot = await readSnapshot(copy, UNSEEN);
    const ours = await readSnapshot(world.store, UNSEEN);
    check(rule, snapshot !== null && ours !== null, () => "it has no tables");
    if (snapshot === null || ours === null) throw new Error("Never comes");
    for (const [at, event] of snapshot.events.entries()) {
      const [left, right] = [event, ours.events[at]].map((one) =>
        one === undefined ? "nothing" : eventText(world.whole(one))
      );
      check(
        rule,
        left === right,
        () => `event ${at} is\n  ${left}\nand was\n  ${right}`,
      );
    }
    const events = snapshot.events.map((event) => world.whole(event));
    new ChainWatch().take(snapshot, events, snapshot.events);
    const { ports } = world;
    const shadow = new Shadow(
      this.#dice.fork("shadow"),
      foldCode(ports.fold, snapshot.foldVersion).readFact,
    );
    shadow.advance(
      snapshot.events.filter(({ position }) => position <= snapshot.position),
    );
    sameStates(snapshot, shadow);
    return snapshot;
  }

  async #open(
    life: Life,
    foldVersion: number,
    faulty: boolean,
  ): Promise<Ledger> {
    const { clock, ports, plan, journal } = this.#world;
    const { store } = this;
    const weather = {
      faults: faulty ? plan.store : NO_STORE_FAULTS,
      outage: null,
      jitterMs: plan.jitterMs,
      lastFaultMs: -Infinity,
    };
    const connection: Driver = {
      location: store.location,
      batch: (statements, mode) => store.batch(statements, mode),
      close: () => Promise.resolve(),
    };
    const driver = new FaultyDriver(connection, {
      clock,
      now: () => this.#world.now(),
      life,
      weather,
      dice: this.#dice,
      count: (fault) => journal.count(fault),
    });
    return await ledgerOn(
      retrying(ports.copyDriver?.(driver) ?? driver, {
        now: () => clock.now(),
        sleep: (ms) => clock.sleep(ms),
        random: () => this.#dice.unit(),
      }),
      {
        environment: "sandbox",
        now: () => this.#world.now(),
        randomBytes: (length) => this.#dice.bytes(length),
        fold: foldCode(ports.fold, foldVersion),
      },
    );
  }
}
