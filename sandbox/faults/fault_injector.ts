import { changeFaults, type Faults, NO_FAULTS } from "./faults.ts";
import type { Random } from "../seeded/random.ts";

/** The faults that are rates. */
export type FaultRate = {
  [Name in keyof Faults]: Faults[Name] extends number ? Name : never;
}[keyof Faults];

/** Decides from the seed when a fault strikes. */
export class FaultInjector {
  readonly #random: Random;
  readonly #streams = new Map<string, Random>();
  #faults: Faults = NO_FAULTS;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The faults in force. */
  get faults(): Faults {
    return this.#faults;
  }

  /** Changes the faults in force. */
  set(change: Partial<Faults>): void {
    this.#faults = changeFaults(this.#faults, change);
  }

  /** Switches every fault off. */
  heal(): void {
    this.#faults = NO_FAULTS;
  }

  /** Whether fault `name` strikes this time. */
  strikes(name: FaultRate): boolean {
    return this.stream(name).chance(this.#faults[name]);
  }

  /** Whether fault `name` strikes this id: each time the same. */
  strikesId(name: FaultRate, id: string): boolean {
    const rate = this.#faults[name];
    return rate > 0 && this.ofId(name, id).unit() < rate;
  }

  /** Random stream of fault `name` for one id; each time the same. */
  ofId(name: string, id: string): Random {
    return this.#random.fork(`${name} of ${id}`);
  }

  /** The random stream of fault `name`. */
  stream(name: string): Random {
    let stream = this.#streams.get(name);
    if (!stream) {
      stream = this.#random.fork(name);
      this.#streams.set(name, stream);
    }
    return stream;
  }

  /** Whether the endpoint cannot be reached at `nowMs`. */
  endpointDown(nowMs: number): boolean {
    return this.#faults.endpointDown ||
      this.#faults.endpointDownSpans.some((span) =>
        span.fromMs <= nowMs && nowMs < span.untilMs
      );
  }
}
