import { databaseNow } from "../../../ledger/for_testing.ts";
import { LedgerError } from "../../../ledger/mod.ts";
import type { Driver, Statement } from "../../../ledger/for_sync.ts";
import type { ResultSet } from "../../../ledger/testing/mod.ts";
import type { VirtualClock } from "../../../sandbox/mod.ts";
import type { Dice } from "./dice.ts";
import { type Life, never } from "./life.ts";

/** How often a batch goes wrong, by fault: rates from 0 to 1. */
export interface StoreFaults {
  /** Another writer holds the lock. */
  readonly busy: number;
  /** The disk is full; writes only. */
  readonly full: number;
  /** The batch never arrived. */
  readonly unreachable: number;
  /** The batch was done, and its answer got lost. */
  readonly answerLost: number;
  /** The process crashes before the batch. */
  readonly crashBefore: number;
  /** The process crashes between two statements of the batch. */
  readonly crashWithin: number;
  /** The process crashes after the batch, before it hears of it. */
  readonly crashAfter: number;
  /** The batch takes up to some seconds. */
  readonly slow: number;
}

/** Everything works. */
export const NO_STORE_FAULTS: StoreFaults = {
  busy: 0,
  full: 0,
  unreachable: 0,
  answerLost: 0,
  crashBefore: 0,
  crashWithin: 0,
  crashAfter: 0,
  slow: 0,
};

/** A span in which nothing works. */
export interface Outage {
  /** How batches fail. */
  readonly code: "busy" | "full" | "unreachable";
  /** When it is over, in milliseconds of the clock. */
  readonly untilMs: number;
}

/** What goes wrong for one process, changed while it runs. */
export interface StoreWeather {
  faults: StoreFaults;
  outage: Outage | null;
  /** Longest random delay around each batch, in ms; shuffles who is first. */
  jitterMs: number;
  /** When a batch last failed or dawdled, in milliseconds of the clock. */
  lastFaultMs: number;
}

/** What a faulty driver works with. */
export interface FaultyDriverOptions {
  readonly clock: VirtualClock;
  /** The database's own clock, in milliseconds since the epoch. */
  readonly now: () => number;
  readonly dice: Dice;
  readonly life: Life;
  readonly weather: StoreWeather;
  /** Called with each fault. */
  readonly count: (fault: string) => void;
}

/** A statement that fails, and with it its transaction. */
const fails: Statement = {
  sql: "SELECT abs(-9223372036854775808)",
  args: [],
};

/**
 * A real database in bad company: batches fail before, within or after, or
 * take the process down with them, and its clock is the simulation's.
 */
export class FaultyDriver implements Driver {
  readonly location: Driver["location"];
  /** Copies the database, unless something goes wrong. */
  readonly copyTo?: (path: string) => Promise<void>;
  readonly #driver: Driver;
  readonly #options: FaultyDriverOptions;

  constructor(driver: Driver, options: FaultyDriverOptions) {
    this.location = driver.location;
    this.#driver = driver;
    this.#options = options;
    const copyTo = driver.copyTo?.bind(driver);
    if (copyTo !== undefined) this.copyTo = (path) => this.#copy(copyTo, path);
  }

  async batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    const { clock, dice, life, weather } = this.#options;
    if (life.dead) return await never();
    const { faults, jitterMs } = weather;
    if (dice.chance(faults.slow)) {
      this.#strike("slow");
      await clock.sleep(dice.int(50, dice.chance(0.3) ? 8000 : 1500));
      weather.lastFaultMs = clock.now();
    } else if (jitterMs > 0) {
      await clock.sleep(dice.int(0, jitterMs));
    }
    if (life.dead) return await never();
    this.#outage(mode);
    const fault = this.#draw(mode);
    if (fault === "crashBefore") return await this.#crash(fault);
    if (fault === "crashWithin") {
      const whole = dice.int(0, statements.length - 1);
      await this.#run([...statements.slice(0, whole), fails], mode)
        .catch(() => {});
      return await this.#crash(fault);
    }
    if (fault !== null && fault !== "answerLost" && fault !== "crashAfter") {
      throw this.#fail(fault);
    }
    const results = await this.#run(statements, mode);
    if (fault === "crashAfter") return await this.#crash(fault);
    if (jitterMs > 0) await clock.sleep(dice.int(0, jitterMs));
    if (life.dead) return await never();
    if (fault === "answerLost") throw this.#fail(fault);
    return results;
  }

  close(): Promise<void> {
    return this.#options.life.dead ? never() : this.#driver.close();
  }

  async #copy(
    copyTo: (path: string) => Promise<void>,
    path: string,
  ): Promise<void> {
    const { life } = this.#options;
    if (life.dead) return await never();
    this.#outage("read");
    const fault = this.#draw("read");
    if (fault === "crashBefore") return await this.#crash(fault);
    if (fault === "busy" || fault === "unreachable") throw this.#fail(fault);
    await copyTo(path);
    if (fault?.startsWith("crash")) return await this.#crash(fault);
    if (fault !== null) throw this.#fail("answerLost");
  }

  /**
   * Runs the statements, the simulation's clock being the database's. It is
   * bound after the other arguments, so that each text is prepared once.
   */
  async #run(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    const now = Math.floor(this.#options.now());
    return await this.#driver.batch(
      statements.map((statement) => {
        const { sql, args } = statement;
        if (!sql.includes(databaseNow)) return statement;
        const timed = sql.replaceAll(databaseNow, `?${args.length + 1}`);
        return { ...statement, sql: timed, args: [...args, now] };
      }),
      mode,
    );
  }

  #outage(mode: "read" | "write"): void {
    const { weather, clock } = this.#options;
    const { outage } = weather;
    if (outage === null) return;
    if (clock.now() >= outage.untilMs) {
      weather.outage = null;
    } else if (mode === "write" || outage.code === "unreachable") {
      throw this.#fail(outage.code);
    }
  }

  /** One fault at most: the rates share one draw. */
  #draw(mode: "read" | "write"): keyof StoreFaults | null {
    const { dice, weather } = this.#options;
    let left = dice.unit();
    for (const [fault, rate] of Object.entries(weather.faults)) {
      if (fault === "slow" || (fault === "full" && mode === "read")) continue;
      left -= rate;
      if (left < 0) return fault as keyof StoreFaults;
    }
    return null;
  }

  #fail(fault: "busy" | "full" | "unreachable" | "answerLost" | "slow") {
    this.#strike(fault);
    const code = fault === "answerLost" || fault === "slow"
      ? "unreachable"
      : fault;
    return new LedgerError(code, `Simulated: ${fault}`);
  }

  #crash(fault: string): Promise<never> {
    this.#strike(fault);
    this.#options.life.kill();
    return never();
  }

  #strike(fault: string): void {
    const { weather, clock, count } = this.#options;
    weather.lastFaultMs = clock.now();
    count(`store ${fault}`);
  }
}
