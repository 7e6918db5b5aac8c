import type { Dice } from "./dice.ts";
import type { StoreWeather } from "./faulty_driver.ts";
import { Incarnation, type Role } from "./incarnation.ts";
import { FOLD_VERSIONS } from "./fold_versions.ts";
import { addOne, digestOf } from "./journal.ts";
import { Life } from "./life.ts";
import type { ProcessEnvironment } from "./process_environment.ts";

/** A process of ours, started again after each crash. */
export class Process {
  readonly role: Role;
  readonly weather: StoreWeather;
  readonly #world: ProcessEnvironment;
  readonly #dice: Dice;
  /** Version of the fold that it runs from its next start on. */
  foldVersion: number;
  #life: Life;
  #now: Incarnation | null = null;
  #starts = 0;
  #restartAtMs: number | null = null;

  constructor(world: ProcessEnvironment, role: Role, dice: Dice) {
    this.#world = world;
    this.role = role;
    this.#dice = dice;
    this.foldVersion = FOLD_VERSIONS[world.plan.upgrades ? 0 : 1];
    this.weather = {
      faults: world.plan.store,
      outage: null,
      jitterMs: world.plan.jitterMs,
      lastFaultMs: -Infinity,
    };
    this.#life = this.#begin();
  }

  /** What runs now; null while it is down or still starting. */
  get incarnation(): Incarnation | null {
    return this.#now;
  }

  /** Crashes it. */
  kill(): void {
    this.#world.journal.count("crash");
    this.#life.kill();
  }

  /** What runs now, or is starting or down: until it crashes. */
  get life(): Life {
    return this.#life;
  }

  /** Starts it again with another version of the fold. */
  upgrade(foldVersion: number): void {
    this.foldVersion = foldVersion;
    this.#life.kill();
  }

  /** Starts it at once if it is waiting to be started. */
  revive(): void {
    if (this.#restartAtMs === null) return;
    this.#restartAtMs = null;
    this.#life = this.#begin();
  }

  /** Answers a webhook as the process does, or not at all. */
  async receive(request: Request, body: Uint8Array): Promise<Response> {
    const { world, life, endpoint } = {
      world: this.#world,
      life: this.#life,
      endpoint: this.#now?.endpoint,
    };
    if (endpoint === null || endpoint === undefined) {
      throw new TypeError("Simulated: connection refused");
    }
    const { journal, clock, ports } = world;
    const digest = digestOf(body);
    addOne(journal.reached, digest);
    const askedMs = clock.now();
    const answering = (ports.endpoint?.((one) => endpoint(one)) ?? endpoint)(
      request,
    );
    const response = await Promise.race([answering, life.died]);
    if (response === undefined || life.dead) {
      throw new TypeError("Simulated: connection reset");
    }
    if (response.ok) {
      addOne(journal.promised, digest);
    } else {
      journal.badAnswers.push({
        status: response.status,
        askedMs,
        answeredMs: clock.now(),
        lastFaultMs: this.weather.lastFaultMs,
      });
    }
    return response;
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    await this.#now?.stop();
  }

  #begin(): Life {
    const life: Life = new Life(() => {
      this.#now = null;
      const { clock } = this.#world;
      const downMs = this.#dice.int(500, 300_000);
      this.#restartAtMs = clock.now() + downMs;
      clock.setTimer(downMs, () => {
        if (this.#life === life) this.revive();
      });
    });
    void this.#start(life, this.#dice.fork(`start ${this.#starts++}`));
    return life;
  }

  async #start(life: Life, dice: Dice): Promise<void> {
    for (let attempt = 0; !life.dead; attempt++) {
      try {
        const started = await Incarnation.start({
          world: this.#world,
          role: this.role,
          life,
          foldVersion: this.foldVersion,
          dice: dice.fork(`attempt ${attempt}`),
          weather: this.weather,
        });
        if (!life.dead) this.#now = started;
        return;
      } catch (error) {
        this.#world.expect(error, null);
        await this.#world.clock.sleep(5000);
      }
    }
  }
}
