import { ledgerOn } from "../../ledger/for_server.ts";
import { databaseNow } from "../../ledger/for_testing.ts";
import type { Ledger } from "../../ledger/mod.ts";
import type { Driver, ResultSet, Statement } from "../../ledger/types.ts";
import type { Sandbox, VirtualClock } from "../../sandbox/mod.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import {
  type ComposedOnramp,
  composeOnramp,
} from "../../server/start/compose_onramp.ts";
import type { Handlers } from "../../server/start/handlers.ts";
import { type OnProblem, problemLog } from "../../server/start/problem.ts";
import type { PageSessions } from "../../server/start/start_options.ts";
import { readConfig } from "../../settings/config.ts";

/** What the webhook address of a shop in memory ends in. */
export const SECRET = "the-secret-of-a-shop-in-memory";

/** Where the service of a shop in memory sends webhooks. */
export const WEBHOOK_URL = `https://shop.test/webhooks/${SECRET}`;

/** What the service is asked about. */
const NEW_SWEEPS = ["confirm", "new", "open"] as const;
const ALL_SWEEPS = [...NEW_SWEEPS, "deep"] as const;

/** So much later the past is looked at as well, in ms. */
export const PAST_AFTER_MS = 10 * 60_000;

/** Faster than anything asks: nobody waits for a turn. */
const RATE = 1_000_000;

/** What a process of a shop is made of. */
export interface ShopProcessParts {
  /** The database; several processes may share one. */
  readonly driver: Driver;
  /** The service. */
  readonly sandbox: Sandbox;
  /** The time. */
  readonly clock: VirtualClock;
  /** The partner's handlers. */
  readonly on: Handlers;
  /** Who may ask for sessions. @default {nobody} */
  readonly sessions?: PageSessions<unknown>;
  /** Is told of problems. */
  readonly onProblem: OnProblem;
}

/** The program of a shop, as `startOnramp` makes it, moved by hand. */
export class ShopProcess {
  /** What the program serves and sells with. */
  readonly onramp: ComposedOnramp["onramp"];
  readonly #composed: ComposedOnramp;
  readonly #driver: ProcessDriver;
  readonly #ledger: Ledger;
  readonly #died = Promise.withResolvers<void>();
  #isDead = false;

  private constructor(
    composed: ComposedOnramp,
    driver: ProcessDriver,
    ledger: Ledger,
  ) {
    this.#composed = composed;
    this.onramp = composed.onramp;
    this.#driver = driver;
    this.#ledger = ledger;
  }

  /** Starts a process on the database. */
  static async start(parts: ShopProcessParts): Promise<ShopProcess> {
    const { sandbox, clock, on, sessions, onProblem } = parts;
    const now = () => clock.now();
    const driver = new ProcessDriver(parts.driver, now);
    const ledger = await ledgerOn(driver, { environment: "sandbox", now });
    await ledger.goLive();
    const config = readConfig(() => undefined, {
      databaseUrl: ":memory:",
      environment: "sandbox",
      apiKey: sandbox.apiKey,
      webhookSecrets: SECRET,
    });
    const composed = composeOnramp({
      config,
      secrets: config.webhookSecrets,
      ledger,
      log: problemLog(onProblem),
      metrics: serviceMetrics({ time: now }),
      now,
      longLived: false,
      requestsPerSecond: RATE,
      polling: { sleep: () => Promise.resolve() },
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
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
    const process = new ShopProcess(composed, driver, ledger);
    for (const [pattern, handler] of Object.entries(on)) {
      await composed.handlers.add(pattern as keyof Handlers, handler);
    }
    return process;
  }

  /** Whether it has crashed. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /**
   * Folds, asks the service, and calls the handlers for what is new.
   *
   * @param past Whether the service is asked about the past as well.
   */
  async work(past: boolean): Promise<void> {
    if (this.#isDead) return;
    const { service, handlers } = this.#composed;
    const step = async () => {
      await this.#ledger.project();
      // A second poller finds the lease taken, and asks nothing.
      await service.poller?.once({ sweeps: past ? ALL_SWEEPS : NEW_SWEEPS });
      await this.#ledger.project();
      for (const one of handlers.subscriptions) await one.dispatch();
    };
    await Promise.race([step(), this.#died.promise]);
  }

  /**
   * Crashes: nothing of it reaches the database or the service any more, and
   * what it holds there runs out.
   */
  kill(): void {
    this.#isDead = true;
    this.#driver.kill();
    this.#died.resolve();
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    if (this.#isDead) return;
    await this.#composed.service[Symbol.asyncDispose]();
    await this.#ledger.close();
    this.#isDead = true;
  }
}

/** The database as a process sees it: by the shop's clock, until it crashes. */
class ProcessDriver implements Driver {
  readonly location: Driver["location"];
  readonly #driver: Driver;
  readonly #now: () => number;
  #isDead = false;

  constructor(driver: Driver, now: () => number) {
    this.location = driver.location;
    this.#driver = driver;
    this.#now = now;
  }

  kill(): void {
    this.#isDead = true;
  }

  async batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    if (this.#isDead) return await never();
    const now = Math.floor(this.#now());
    const results = await this.#driver.batch(
      statements.map((statement) => {
        const { sql, args } = statement;
        if (!sql.includes(databaseNow)) return statement;
        const timed = sql.replaceAll(databaseNow, `?${args.length + 1}`);
        return { ...statement, sql: timed, args: [...args, now] };
      }),
      mode,
    );
    return this.#isDead ? await never() : results;
  }

  /** The shop closes the database after its last process. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
