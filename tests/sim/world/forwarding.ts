import { readConfig } from "../../../core/settings/config.ts";
import { Webhook } from "standardwebhooks";
import {
  Forwarder,
  forwardMeters,
  ForwardReport,
} from "../../../server/forwarding/forwarder.ts";
import { readForwarding } from "../../../server/forwarding/read_targets.ts";
import {
  type ForwardedTransition,
  webhookSigner,
} from "../../../server/forwarding/transition_message.ts";
import { retrying } from "../../../ledger/for_server.ts";
import { readTransitions } from "../../../ledger/testing/mod.ts";
import { Subscriptions, type Transition } from "../../../ledger/mod.ts";
import type { Dice } from "./dice.ts";
import {
  FaultyDriver,
  NO_STORE_FAULTS,
  type StoreFaults,
  type StoreWeather,
} from "./faulty_driver.ts";
import { ordersByHand } from "../rules/hand_watch.ts";
import { check } from "./journal.ts";
import { notTold } from "./not_told.ts";
import { Life, never } from "./life.ts";
import { passing } from "./virtual_time.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;
const secret = `whsec_${btoa("a secret of the simulation alone")}`;
const url = "https://shop.example/hooks";

const faults: StoreFaults = {
  ...NO_STORE_FAULTS,
  busy: 0.05,
  full: 0.02,
  unreachable: 0.03,
  answerLost: 0.05,
  crashBefore: 0.02,
  crashWithin: 0.02,
  crashAfter: 0.02,
  slow: 0.03,
};

/**
 * Two processes forward all that was ever confirmed to one target, while the
 * target, their database and they themselves fail: each transition arrives, and
 * in order within an order or user.
 */
export async function forwardEverything(
  world: World,
  dice: Dice,
): Promise<void> {
  const { clock, store } = world;
  const target = new Target(world, dice.fork("target"));
  const senders = ["a", "b"].map((name) =>
    new Sender(world, target, name, dice.fork(name))
  );
  await clock.advance(dice.int(2, 20) * minuteMs);
  target.fails = 0;
  for (const sender of senders) sender.heal();
  const subscriptions = new Subscriptions(store, () => world.now());
  for (let waited = 0;; waited++) {
    const status = (await subscriptions.list())
      .find((one) => one.name === `forward:${url}`);
    const left = status === undefined
      ? 1
      : status.behind + status.retrying + status.waiting + status.dead;
    if (left === 0) break;
    check(
      "a target that works again gets all that it missed",
      waited < 180,
      () => `${left} transitions wait after three hours`,
    );
    await clock.advance(minuteMs);
  }
  for (const sender of senders) {
    await passing(clock, sender.stop(), 60 * minuteMs);
  }
  await target.lookBack();
}

/** A receiver that fails at times, and remembers what it took. */
class Target {
  fails = 0.2;
  readonly #world: World;
  readonly #dice: Dice;
  readonly #taken: ForwardedTransition[] = [];

  constructor(world: World, dice: Dice) {
    this.#world = world;
    this.#dice = dice;
  }

  async receive(init: RequestInit): Promise<Response> {
    const { clock, journal } = this.#world;
    await clock.sleep(this.#dice.int(1, this.#dice.chance(0.05) ? 9000 : 80));
    const fails = this.#dice.chance(this.fails);
    const how = this.#dice.int(0, 3);
    if (fails) journal.count("target fails");
    if (fails && how === 0) throw new TypeError("Simulated: no connection");
    if (fails && how === 1) return new Response(null, { status: 500 });
    if (fails && how === 2) {
      const headers = { "retry-after": "3" };
      return new Response(null, { status: 429, headers });
    }
    const { data } = new Webhook(secret).verify(
      String(init.body),
      Object.fromEntries(new Headers(init.headers)),
    ) as { readonly data: ForwardedTransition };
    this.#taken.push(data);
    if (fails) throw new TypeError("Simulated: its answer got lost");
    return new Response(null, { status: 204 });
  }

  /** Holds what was taken against the log. */
  async lookBack(): Promise<void> {
    const firsts = new Map<string, number[]>();
    const seen = new Set<string>();
    for (const { entity, id, key, seq, late } of this.#taken) {
      if (seen.has(key)) continue;
      seen.add(key);
      // A release that was parked comes after its withdrawal.
      if (late) continue;
      const entityKey = `${entity}:${id}`;
      firsts.set(entityKey, [...firsts.get(entityKey) ?? [], seq]);
    }
    const log: Transition[] = [];
    for (let after = 0;;) {
      const page = await readTransitions(this.#world.store, {
        after,
        limit: 1000,
      });
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.seq;
      log.push(...page);
    }
    const lost = notTold(
      log.filter(({ trust, logged }) =>
        trust === "confirmed" || logged !== null
      ),
      seen,
      await ordersByHand(this.#world),
    );
    check(
      "every confirmed transition and release arrives at a target",
      lost === null,
      () => `${lost} never came`,
    );
    for (const [entity, seqs] of firsts) {
      check(
        "transitions of an order or user arrive in order",
        seqs.every((seq, at) => seq > (seqs[at - 1] ?? 0)),
        () => `${entity}: ${seqs.join(" ")}`,
      );
    }
  }
}

/** A process that sends, started again after each crash. */
class Sender {
  readonly #world: World;
  readonly #target: Target;
  readonly #name: string;
  readonly #dice: Dice;
  readonly #weather: StoreWeather;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #life: Life | null = null;
  #stopped = false;
  #starts = 0;

  constructor(world: World, target: Target, name: string, dice: Dice) {
    this.#world = world;
    this.#target = target;
    this.#name = name;
    this.#dice = dice;
    this.#weather = {
      faults,
      outage: null,
      jitterMs: world.plan.jitterMs,
      lastFaultMs: -Infinity,
    };
    this.#start();
  }

  /** From now on nothing fails. */
  heal(): void {
    this.#weather.faults = NO_STORE_FAULTS;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#stop.abort();
    // What is dead waits for ever.
    if (this.#life?.dead === false) await this.#running;
  }

  #start(): void {
    const { clock, journal } = this.#world;
    if (this.#stopped) return;
    const life = new Life(() => {
      journal.count("sender crash");
      clock.setTimer(this.#dice.int(500, 90_000), () => this.#start());
    });
    this.#life = life;
    this.#stop = new AbortController();
    this.#running = this.#forwarder(life).run(this.#stop.signal);
  }

  #forwarder(life: Life): Forwarder {
    const { clock, journal } = this.#world;
    const dice = this.#dice.fork(`start ${this.#starts++}`);
    const faulty = new FaultyDriver(this.#world.openStore(), {
      clock,
      now: () => this.#world.now(),
      life,
      weather: this.#weather,
      dice: dice.fork("store"),
      count: (fault) => journal.count(fault),
    });
    const driver = retrying(faulty, {
      now: () => clock.now(),
      sleep: (ms) => clock.sleep(ms),
      random: () => dice.unit(),
    });
    const forwarding = readForwarding(readConfig(() => undefined, {
      forwardTo: [
        `${url} order.confirmed.* order.release.* user.*.confirmed.*`,
      ],
      forwardSecrets: secret,
    }));
    const [target] = forwarding?.targets ?? [];
    if (target === undefined) throw new Error("There is no target");
    const silent = { record: () => {}, add: () => {} };
    return new Forwarder({
      ledger: {
        driver,
        assets: "sandbox",
        onProjected: () => ({ [Symbol.dispose]: () => {} }),
      },
      target,
      sign: webhookSigner([secret]),
      report: new ForwardReport({
        target: url,
        name: target.name,
        log: () => {},
        now: () => this.#world.now(),
        meters: forwardMeters({
          createCounter: () => silent,
          createHistogram: () => silent,
          createGauge: () => silent,
          createObservableGauge: () => ({ addCallback: () => {} }),
        }),
      }),
      // A receiver refuses what our clock, set back, has dated too early.
      now: () => clock.now(),
      steadyNow: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      random: () => dice.unit(),
      holder: `${this.#name} ${this.#starts}`,
      from: "start",
      concurrency: dice.int(1, 16),
      maxAttempts: 1000,
      retryDelayMs: (attempt, _, retryAfterMs) =>
        Math.max(2000 * Math.min(attempt, 30), retryAfterMs ?? 0),
      post: {
        resolve: () => Promise.resolve(["203.0.113.1"]),
        fetch: (_, init) =>
          life.dead ? never() : life.alive(this.#target.receive(init)),
      },
    });
  }
}
