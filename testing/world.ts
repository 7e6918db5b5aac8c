import { defined } from "../core/guards.ts";
import { readConfig } from "../core/settings/config.ts";
import { ledgerOn } from "../ledger/for_server.ts";
import { databaseNow, openMemoryLedger } from "../ledger/for_testing.ts";
import type { Driver } from "../ledger/types.ts";
import {
  createSandbox,
  type Sandbox,
  type VirtualClock,
  virtualClock,
} from "../sandbox/mod.ts";
import type { OnProblem } from "../server/alarms/alarm_message.ts";
import { serviceMetrics } from "../server/monitoring/metrics.ts";
import { composeOnramp } from "../server/start/compose_onramp.ts";
import type { Handler, Handlers } from "../server/start/handlers.ts";
import { problemPort } from "../server/start/problem.ts";
import type { PageSessions } from "../server/start/onramp.ts";

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
export interface World {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  /** The processes that have not crashed, the first one first. */
  readonly alive: () => readonly ShopProcess[];
  /** Starts the program of the shop as `startOnramp` makes it. */
  readonly start: (parts: ShopProcessParts) => Promise<ShopProcess>;
  /**
   * Lets every process fold, ask the service, and call the handlers for what is
   * new after so much time.
   */
  readonly work: (passedMs: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What the partner gives to a process. */
export interface ShopProcessParts {
  /** Its handlers, by the process that calls them. */
  readonly on: (self: Mortal) => Handlers;
  /** Who may ask for sessions. @default {nobody} */
  readonly sessions?: PageSessions<unknown> | undefined;
  readonly onProblem: OnProblem;
}

/** What may crash. */
export interface Mortal {
  /** Whether it has crashed. */
  readonly isDead: () => boolean;
  /**
   * Crashes: nothing of it reaches the database or the service any more, and
   * what it holds there runs out.
   */
  readonly kill: () => void;
}

/** A process is no longer there. */
export function crashed(): TypeError {
  return new TypeError("The process has crashed");
}

/** Opens a shop in which nothing has happened, and no process runs. */
export async function openWorld(seed: number, startMs: number): Promise<World> {
  const clock = virtualClock(startMs);
  const now = () => clock.now();
  const driver = await openMemoryLedger({ environment: ENVIRONMENT, now });
  const started: ShopProcess[] = [];
  const alive = () => started.filter((process) => !process.isDead());
  const sandbox = createSandbox({
    seed,
    clock,
    webhookUrl: `https://shop.test/webhooks/${SECRET}`,
    fetch: async (input, init) => {
      const [up] = alive();
      if (up === undefined) throw new TypeError("The shop is down");
      return await up.take(new Request(input, init));
    },
  });
  const start = async (parts: ShopProcessParts) => {
    const process = await startProcess({ clock, sandbox, driver }, parts);
    started.push(process);
    return process;
  };
  return {
    ...{ clock, sandbox, alive, start },
    work: async (passedMs) => {
      const past = passedMs >= PAST_AFTER_MS;
      await Promise.all(alive().map((process) => process.work(past)));
    },
    close: async () => {
      await sandbox.close();
      await Promise.all(started.map((process) => process.stop()));
      await driver.close();
    },
  };
}

/** The program of a shop, moved by hand. */
type ShopProcess = Awaited<ReturnType<typeof startProcess>>;

async function startProcess(
  { clock, sandbox, driver }: Pick<World, "clock" | "sandbox"> & {
    readonly driver: Driver;
  },
  { on, sessions, onProblem }: ShopProcessParts,
) {
  const now = () => clock.now();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let dead = false;
  const isDead = () => dead;
  const kill = () => {
    dead = true;
    end();
  };
  // What it asks of the world outside of it fails after a crash, so that what
  // waits for an answer, and its timers, come to an end.
  const whileAlive = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (dead) throw crashed();
    const answer = await ask();
    if (dead) throw crashed();
    return answer;
  };
  const unlessDead = (error: unknown) => {
    if (!dead) throw error;
  };
  const ledger = await ledgerOn({
    location: driver.location,
    batch: (statements, mode) => {
      const nowMs = Math.floor(now());
      // The database's clock is that of the shop.
      const timed = statements.map(({ sql, args, ...rest }) => ({
        ...rest,
        sql: sql.replaceAll(databaseNow, `?${args.length + 1}`),
        args: sql.includes(databaseNow) ? [...args, nowMs] : args,
      }));
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
    ...{ config, ledger, now, secrets: config.webhookSecrets },
    ...problemPort(onProblem),
    metrics: serviceMetrics({ time: now }),
    longLived: false,
    requestsPerSecond: RATE,
    polling: { sleep: () => Promise.resolve() },
    fetch: (input, init) =>
      whileAlive(() => sandbox.fetch(new Request(input, init))),
    options: { requestsPerSecond: RATE, ...defined({ sessions }) },
    // Its handlers are there before anything happens.
    isNew: true,
    timing: {
      start: false,
      steadyNow: now,
      sleep: (ms, signal) => clock.sleep(ms, signal),
    },
  });
  await waiting.look();
  for (const [pattern, handler] of Object.entries(on({ isDead, kill }))) {
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
  return {
    ...{ onramp, isDead, kill },
    take: (request: Request) => whileAlive(() => onramp.webhooks(request)),
    work: (past: boolean) => Promise.race([step(past).catch(unlessDead), over]),
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
