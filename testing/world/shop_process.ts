import { ledgerOn } from "../../ledger/for_server.ts";
import { databaseNow, openMemoryLedger } from "../../ledger/for_testing.ts";
import type { Driver, Statement } from "../../ledger/types.ts";
import {
  createSandbox,
  type Sandbox,
  type VirtualClock,
  virtualClock,
} from "../../sandbox/mod.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import {
  type ComposedOnramp,
  composeOnramp,
} from "../../server/start/compose_onramp.ts";
import type { Handler, Handlers } from "../../server/start/handlers.ts";
import type { OnProblem } from "../../server/alarms/problem.ts";
import { problemPort } from "../../server/start/problem.ts";
import type { PageSessions } from "../../server/start/start_options.ts";
import { readConfig } from "../../core/settings/config.ts";

const SECRET = "the-secret-of-a-shop-in-memory";
const ENVIRONMENT = "sandbox";

/** What the service is asked about. */
const NEW_SWEEPS = ["confirm", "new", "open"] as const;
const ALL_SWEEPS = [...NEW_SWEEPS, "deep"] as const;
/** So much later the past is looked at as well, in ms. */
const PAST_AFTER_MS = 10 * 60_000;
/** A rate limit that is never reached. */
const RATE = 1_000_000;

/** A shop in memory: the service, one database, and the processes on it. */
export class ShopWorld {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  readonly #driver: Driver;
  readonly #started: ShopProcess[] = [];

  private constructor(seed: number, clock: VirtualClock, driver: Driver) {
    this.clock = clock;
    this.#driver = driver;
    this.sandbox = createSandbox({
      seed,
      clock,
      webhookUrl: `https://shop.test/webhooks/${SECRET}`,
      fetch: async (input, init) => {
        const [up] = this.alive;
        if (up === undefined) throw new TypeError("The shop is down");
        return await up.take(new Request(input, init));
      },
    });
  }

  static async open(seed: number, startMs: number): Promise<ShopWorld> {
    const clock = virtualClock(startMs);
    const driver = await openMemoryLedger({
      environment: ENVIRONMENT,
      now: () => clock.now(),
    });
    return new ShopWorld(seed, clock, driver);
  }

  /** The processes that have not crashed, the first one first. */
  get alive(): readonly ShopProcess[] {
    return this.#started.filter((process) => !process.isDead());
  }

  async start(parts: ShopProcessParts): Promise<ShopProcess> {
    const process = await startProcess(this, this.#driver, parts);
    this.#started.push(process);
    return process;
  }

  /**
   * Lets every process fold, ask the service, and call the handlers for what is
   * new after so much time.
   */
  async work(passedMs: number): Promise<void> {
    const past = passedMs >= PAST_AFTER_MS;
    await Promise.all(this.alive.map((process) => process.work(past)));
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await Promise.all(this.#started.map((process) => process.stop()));
    await this.#driver.close();
  }
}

/** What the partner gives to a process. */
export interface ShopProcessParts {
  readonly on: Handlers;
  /** Who may ask for sessions. @default {nobody} */
  readonly sessions?: PageSessions<unknown>;
  readonly onProblem: OnProblem;
}

/** The program of a shop, moved by hand. */
export interface ShopProcess {
  /** What the program serves and sells with. */
  readonly onramp: ComposedOnramp["onramp"];
  /** Whether it has crashed. */
  readonly isDead: () => boolean;
  /** Takes a webhook, unless it crashes before it has answered. */
  readonly take: (request: Request) => Promise<Response>;
  readonly work: (past: boolean) => Promise<void>;
  /**
   * Crashes: nothing of it reaches the database or the service any more, and
   * what it holds there runs out.
   */
  readonly kill: () => void;
  /** Stops it cleanly; if it has crashed, ends what still waits. */
  readonly stop: () => Promise<void>;
}

/** A process is no longer there. */
export class Crashed extends TypeError {
  override readonly name = "Crashed";

  constructor() {
    super("The process has crashed");
  }
}

/** Starts the program of a shop as `startOnramp` makes it. */
async function startProcess(
  { sandbox, clock }: ShopWorld,
  driver: Driver,
  { on, sessions, onProblem }: ShopProcessParts,
): Promise<ShopProcess> {
  const now = () => clock.now();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let isDead = false;
  const kill = () => {
    isDead = true;
    end();
  };
  // What it asks of the world outside of it fails after a crash, so that what
  // waits for an answer, and its timers, come to an end.
  const whileAlive = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Crashed();
    const answer = await ask();
    if (isDead) throw new Crashed();
    return answer;
  };
  const ledger = await ledgerOn({
    location: driver.location,
    batch: (statements, mode) => {
      const timed = byClock(statements, Math.floor(now()));
      return whileAlive(() => driver.batch(timed, mode));
    },
    // The shop closes the database after its last process.
    close: () => Promise.resolve(),
  }, { environment: ENVIRONMENT, now });
  await ledger.goLive();
  const config = readConfig(() => undefined, {
    databaseUrl: ":memory:",
    environment: ENVIRONMENT,
    apiKey: sandbox.apiKey,
    webhookSecrets: SECRET,
  });
  const { onramp, service, handlers, waiting } = composeOnramp({
    config,
    secrets: config.webhookSecrets,
    ledger,
    ...problemPort(onProblem),
    metrics: serviceMetrics({ time: now }),
    now,
    longLived: false,
    requestsPerSecond: RATE,
    polling: { sleep: () => Promise.resolve() },
    fetch: (input, init) =>
      whileAlive(() => sandbox.fetch(new Request(input, init))),
    options: {
      requestsPerSecond: RATE,
      ...sessions === undefined ? {} : { sessions },
    },
    // Its handlers are there before anything happens.
    isNew: true,
    timing: {
      start: false,
      steadyNow: now,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
  });
  await waiting.look();
  for (const [pattern, handler] of Object.entries(on)) {
    await handlers.add(pattern as keyof Handlers, handler as Handler);
  }
  const step = async (past: boolean) => {
    // It folds before and after it asks. A second poller finds the lease
    // taken, and does neither.
    const sweeps = past ? ALL_SWEEPS : NEW_SWEEPS;
    const polled = await service.poller?.once({ sweeps });
    if (polled?.ran !== true) await ledger.project();
    for (const one of handlers.subscriptions) await one.dispatch();
    await waiting.look();
  };
  const unlessDead = (error: unknown) => {
    if (!isDead) throw error;
  };
  return {
    onramp,
    isDead: () => isDead,
    take: (request) => whileAlive(() => onramp.webhooks(request)),
    work: (past) => Promise.race([step(past).catch(unlessDead), over]),
    kill,
    stop: async () => {
      try {
        await service[Symbol.asyncDispose]();
        await ledger.close();
      } catch (error) {
        unlessDead(error);
      }
      kill();
    },
  };
}

/** Statements whose time is that of the shop's clock. */
function byClock(
  statements: readonly Statement[],
  nowMs: number,
): readonly Statement[] {
  return statements.map((statement) => {
    const { sql, args } = statement;
    if (!sql.includes(databaseNow)) return statement;
    const timed = sql.replaceAll(databaseNow, `?${args.length + 1}`);
    return { ...statement, sql: timed, args: [...args, nowMs] };
  });
}
