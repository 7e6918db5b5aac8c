import { monotonicFactory } from "ulid";
import {
  ledgerOn,
  ProjectionWorker,
  retrying,
} from "../../../ledger/for_server.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import { SWEEP_KINDS } from "../../../sync/polling/fair_share.ts";
import {
  createPoller,
  type Poller,
  type SweepKind,
} from "../../../sync/mod.ts";
import { Inbox } from "../../../webhooks/testing/mod.ts";
import { OnrampClient } from "../../../client/mod.ts";
import type {
  Ledger,
  Subscription,
  TransitionHandler,
} from "../../../ledger/mod.ts";
import {
  type Spool,
  type SpoolMover,
  spoolMover,
  type WebhookEndpoint,
  webhookEndpoint,
} from "../../../webhooks/mod.ts";
import type { Dice } from "./dice.ts";
import { FaultyDriver, type StoreWeather } from "./faulty_driver.ts";
import { foldCode } from "./fold_versions.ts";
import { type Life, never } from "./life.ts";
import type { ProcessEnvironment } from "./process_environment.ts";

/** What a process is there for. */
export interface Role {
  readonly name: string;
  readonly endpoint: boolean;
  readonly poller: boolean;
}

/** What a run of a process starts from. */
export interface IncarnationOptions {
  readonly world: ProcessEnvironment;
  readonly role: Role;
  readonly life: Life;
  readonly dice: Dice;
  readonly weather: StoreWeather;
  /** Version of the fold that it runs. */
  readonly foldVersion: number;
}

/** How often a poller that runs by itself looks, by the pace of events. */
const MINUTES_BETWEEN_LOOKS = { seconds: 4, minutes: 8, hours: 12 };

/** Name of the one subscription. */
export const SUBSCRIPTION = "receiver";

/** Everything of ours that lives in one run of a process. */
export class Incarnation {
  readonly ledger: Ledger;
  readonly client: OnrampClient;
  readonly endpoint: WebhookEndpoint | null;
  readonly subscription: Subscription | null;
  readonly poller: Poller | null;
  /** Version of the fold that it runs. */
  readonly foldVersion: number;
  readonly #follower: ProjectionWorker | null;
  readonly #spool: Spool | null;
  readonly #mover: SpoolMover | null;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #options: IncarnationOptions;
  #polling: Promise<void> | null = null;

  private constructor(
    options: IncarnationOptions,
    ledger: Ledger,
    subscription: Subscription | null,
    spool: Spool | null,
  ) {
    const { world, role } = options;
    this.#options = options;
    this.foldVersion = options.foldVersion;
    this.ledger = ledger;
    this.subscription = subscription;
    this.client = clientOf(options);
    this.poller = role.poller ? this.#makePoller() : null;
    this.#running = this.poller !== null && world.plan.running
      ? this.poller.run(this.#stop.signal)
      : Promise.resolve();
    this.#follower = role.endpoint ? this.#makeFollower() : null;
    this.#spool = spool;
    this.#mover = spool === null ? null : this.#makeMover(spool);
    this.endpoint = role.endpoint ? this.#makeEndpoint() : null;
  }

  /** Opens the ledger and starts everything; fails as the database does. */
  static async start(options: IncarnationOptions): Promise<Incarnation> {
    const { world, role, life, dice, weather, foldVersion } = options;
    const { clock, ports, journal } = world;
    const faulty = new FaultyDriver(world.openStore(), {
      clock,
      now: () => world.now(),
      life,
      weather,
      dice: dice.fork("store"),
      count: (fault) => journal.count(fault),
    });
    const tools = { ...world.tools, foldVersion };
    const driver: Driver = ports.driver?.(faulty, tools) ?? faulty;
    const jitter = dice.fork("retry");
    const bytes = dice.fork("bytes");
    const ledger = await ledgerOn(
      retrying(driver, {
        now: () => clock.now(),
        sleep: (ms) => clock.sleep(ms),
        random: () => jitter.unit(),
      }),
      {
        environment: "sandbox",
        now: () => world.now(),
        randomBytes: (length) => bytes.bytes(length),
        fold: foldCode(ports.fold, foldVersion),
      },
    );
    // As `serve` does: what ends from now on is new.
    if (role.endpoint) await ledger.goLive();
    const subscription = role.endpoint
      ? await subscribe(options, ledger)
      : null;
    const spool = role.endpoint && world.plan.spool ? openSpool(options) : null;
    return new Incarnation(options, ledger, subscription, spool);
  }

  /**
   * Runs sweeps once in the background, unless they are under way.
   *
   * @param kinds Which of them; all when left out.
   */
  poll(kinds: readonly SweepKind[] = SWEEP_KINDS): Promise<void> {
    const { world } = this.#options;
    if (this.poller === null || world.plan.running) return Promise.resolve();
    const { signal } = this.#stop;
    this.#polling ??= this.poller.once({
      signal,
      sweeps: world.ports.sweeps ?? kinds,
    }).then(
      () => world.count("polls"),
      (error) => world.expect(error, signal),
    ).finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  /** Ends as a process does that is asked to. */
  async stop(): Promise<void> {
    this.#stop.abort(new DOMException("Stopping", "AbortError"));
    await this.endpoint?.drain();
    await this.#mover?.stop();
    await this.#spool?.close();
    await this.#follower?.stop();
    await this.#running;
    await this.#polling;
    await this.ledger.close();
  }

  #makePoller(): Poller {
    const { world, role, dice } = this.#options;
    const { clock, ports, plan } = world;
    const bytes = dice.fork("poller");
    // Sparser than by default, so that hours pass quickly.
    const everyMs = MINUTES_BETWEEN_LOOKS[plan.pace] * 60_000;
    return createPoller({
      ledger: ports.pollLedger?.(this.ledger) ?? this.ledger,
      client: ports.pollClient?.(this.client) ?? this.client,
      now: () => world.now(),
      steadyNow: ports.steadyNow?.(() => world.now()) ?? (() => clock.now()),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      randomBytes: (length) => bytes.bytes(length),
      holder: role.name,
      leaseMs: 30 * 60_000,
      requestsPerSecond: 10,
      followEveryMs: 2 * everyMs,
      confirmEveryMs: everyMs,
      openEveryMs: 2 * everyMs,
      deepCycleAtLeastMs: 10 * everyMs,
      watchEveryMs: 10 * 60_000,
      itemsPerWindow: 40,
      onWatch: (health) => {
        world.delivery = health;
      },
      onError: (error) => world.expect(error, this.#stop.signal),
    });
  }

  #makeFollower(): ProjectionWorker {
    const { world } = this.#options;
    return new ProjectionWorker({
      catchUp: async (signal) => {
        await this.ledger.project({ signal });
      },
      onError: (error) => world.expect(error, this.#stop.signal),
      idleMs: 10 * 60_000,
      now: () => world.clock.now(),
    });
  }

  #makeMover(spool: Spool): SpoolMover {
    const { world, life, dice } = this.#options;
    const luck = dice.fork("mover");
    return spoolMover({
      spool,
      take: async (records) => {
        await this.ledger.appendRecords(records);
        if (luck.chance(world.spoolFaults.crash)) {
          world.journal.count("spool crash");
          life.kill();
        }
        await life.alive(Promise.resolve());
        this.#follower?.wake();
      },
      now: () => world.now(),
      tidyEveryMs: 10 * 60_000,
    });
  }

  #makeEndpoint(): WebhookEndpoint {
    const { world, dice } = this.#options;
    const { clock, ports } = world;
    const stored = this.#spool?.put ?? (async (delivery) => {
      await this.ledger.appendDelivery(delivery);
      this.#follower?.wake();
    });
    const noted = this.#spool?.note ?? this.ledger.recordUnanswered;
    const ids = dice.fork("ids");
    return webhookEndpoint({
      secrets: [world.secret],
      append: ports.append?.(stored, world.tools) ?? stored,
      ...(this.#spool !== null && { noRoomFor: this.#spool.noRoomFor }),
      unanswered: ports.unanswered?.(noted) ?? noted,
      now: () => world.now(),
      clock: () => clock.now(),
      newId: monotonicFactory(() => ids.unit()),
    });
  }
}

/** The spool on the disk that outlives the process. */
function openSpool(
  { world, life, dice, weather }: IncarnationOptions,
): Spool {
  const names = dice.fork("segments");
  const spool = new Inbox({
    folder: world.disk.open({
      life,
      dice: dice.fork("spool"),
      faults: () => world.spoolFaults,
      onFault: (fault) => {
        world.journal.count(fault);
        weather.lastFaultMs = world.clock.now();
      },
    }),
    writer: names.int(1, 2 ** 31).toString(16).padStart(8, "0"),
    now: () => world.now(),
    // A small one is soon full.
    maxBytes: world.plan.attack.stuffing ? 1 << 20 : 1 << 24,
    // A process that is gone tells nobody.
    onDamage: () =>
      life.dead || world.expect(new Error("The spool is damaged"), null),
  });
  return world.ports.spool?.(spool) ?? spool;
}

/** A client whose requests never leave this process. */
function clientOf({ world, life, dice }: IncarnationOptions): OnrampClient {
  const { clock, sandbox, ports } = world;
  const ask: typeof fetch = (input, init) =>
    life.dead ? life.alive(new Promise<Response>(() => {})) : life.alive(
      sandbox.fetch(new Request(input, init)).then((response) => {
        if (!world.plan.attack.noDate) return response;
        world.journal.count("no date");
        const headers = new Headers(response.headers);
        headers.delete("date");
        return new Response(response.body, {
          status: response.status,
          headers,
        });
      }),
    );
  const jitter = dice.fork("client");
  return new OnrampClient({
    environment: "sandbox",
    apiKey: sandbox.apiKey,
    fetch: ports.fetch?.(ask) ?? ask,
    now: () => world.now(),
    steadyNow: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    random: () => jitter.unit(),
    requestsPerSecond: 10,
  });
}

async function subscribe(
  { world, life, dice }: IncarnationOptions,
  ledger: Ledger,
): Promise<Subscription> {
  const { clock, ports, journal } = world;
  const moods = dice.fork("receiver");
  const crashes = dice.fork("handler");
  const told = async (
    transition: Parameters<TransitionHandler>[0],
    { reference }: Parameters<TransitionHandler>[1],
  ): Promise<void> => {
    if (world.plan.jitterMs > 0) {
      await clock.sleep(moods.int(0, world.plan.jitterMs));
    }
    if (life.dead) return await life.alive(Promise.resolve());
    if (moods.chance(world.receiverFails)) {
      journal.count("receiver fails");
      throw new Error("Simulated: the receiver fails");
    }
    const ships = transition.logged?.entered === "yes";
    const isFirst = ships && world.shop.begin(transition.id);
    const crash = isFirst && crashes.chance(world.plan.handlerCrashes)
      ? crashes.pick(["before", "in", "after"])
      : null;
    const die = (): Promise<void> => {
      journal.count(`handler crash ${crash}`);
      life.kill();
      return never();
    };
    if (crash === "before") return await die();
    if (crash === "in") return await die();
    world.receive(transition, life, reference);
    if (crash === "after") return await die();
  };
  return await ledger.subscribe(
    SUBSCRIPTION,
    {
      on: "*",
      from: "start",
      idleMs: 10 * 60_000,
      leaseMs: 10 * 60_000,
      retryDelayMs: (attempt) => 5000 * attempt,
      maxAttempts: 1000,
      steadyNow: () => clock.now(),
      sleep: (ms, signal) => clock.sleep(ms, signal),
      onError: (error) => world.expect(error, null),
    },
    ports.handler?.(told, world.tools) ?? told,
  );
}
