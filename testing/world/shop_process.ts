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
import type { Handler, Handlers } from "../../server/start/handlers.ts";
import type { OnProblem } from "../../server/alarms/problem.ts";
import { problemPort } from "../../server/start/problem.ts";
import type { PageSessions } from "../../server/start/start_options.ts";
import { readConfig } from "../../core/settings/config.ts";

/** What the webhook address of a shop in memory ends in. */
export const SECRET = "the-secret-of-a-shop-in-memory";

/** Whose ledger a shop in memory has. */
export const ENVIRONMENT = "sandbox";

/** Where the service of a shop in memory sends webhooks. */
export const WEBHOOK_URL = `https://shop.test/webhooks/${SECRET}`;

/** What the service is asked about. */
const NEW_SWEEPS = ["confirm", "new", "open"] as const;
const ALL_SWEEPS = [...NEW_SWEEPS, "deep"] as const;

/** So much later the past is looked at as well, in ms. */
export const PAST_AFTER_MS = 10 * 60_000;

/** A rate limit that is never reached. */
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
  /** Called with each problem. */
  readonly onProblem: OnProblem;
}

/** The program of a shop, as `startOnramp` makes it, moved by hand. */
export class ShopProcess {
  /** What the program serves and sells with. */
  readonly onramp: ComposedOnramp["onramp"];
  readonly #composed: ComposedOnramp;
  readonly #life: Life;
  readonly #ledger: Ledger;

  private constructor(composed: ComposedOnramp, life: Life, ledger: Ledger) {
    this.#composed = composed;
    this.onramp = composed.onramp;
    this.#life = life;
    this.#ledger = ledger;
  }

  /** Starts a process on the database. */
  static async start(parts: ShopProcessParts): Promise<ShopProcess> {
    const { sandbox, clock, on, sessions, onProblem } = parts;
    const now = () => clock.now();
    const life = new Life();
    const driver = new ProcessDriver(parts.driver, life, now);
    const ledger = await ledgerOn(driver, { environment: ENVIRONMENT, now });
    await ledger.goLive();
    const config = readConfig(() => undefined, {
      databaseUrl: ":memory:",
      environment: ENVIRONMENT,
      apiKey: sandbox.apiKey,
      webhookSecrets: SECRET,
    });
    const composed = composeOnramp({
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
        life.whileAlive(() => sandbox.fetch(new Request(input, init))),
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
    await composed.waiting.look();
    const process = new ShopProcess(composed, life, ledger);
    for (const [pattern, handler] of Object.entries(on)) {
      await composed.handlers.add(
        pattern as keyof Handlers,
        handler as Handler,
      );
    }
    return process;
  }

  /** Whether it has crashed. */
  get isDead(): boolean {
    return this.#life.isOver;
  }

  /** Takes a webhook, unless it crashes before it has answered. */
  take(request: Request): Promise<Response> {
    return this.#life.whileAlive(() => this.onramp.webhooks(request));
  }

  /**
   * Folds, asks the service, and calls the handlers for what is new, unless it
   * crashes.
   */
  async work(past: boolean): Promise<void> {
    const life = this.#life;
    if (life.isOver) return;
    const { service, handlers, waiting } = this.#composed;
    const step = async () => {
      // It folds before and after it asks. A second poller finds the lease
      // taken, and does neither.
      const sweeps = past ? ALL_SWEEPS : NEW_SWEEPS;
      const polled = await service.poller?.once({ sweeps });
      if (polled?.ran !== true) await this.#ledger.project();
      for (const one of handlers.subscriptions) await one.dispatch();
      await waiting.look();
    };
    await Promise.race([
      step().catch((error) => {
        if (!life.isOver) throw error;
      }),
      life.over,
    ]);
  }

  /**
   * Crashes: nothing of it reaches the database or the service any more, and
   * what it holds there runs out.
   */
  kill(): void {
    this.#life.end();
  }

  /** Stops it cleanly; if it has crashed, ends what still waits. */
  async stop(): Promise<void> {
    const { service } = this.#composed;
    try {
      await service[Symbol.asyncDispose]();
      await this.#ledger.close();
    } catch (error) {
      if (!this.isDead) throw error;
    }
    this.#life.end();
  }
}

/** How long a process lives. */
class Life {
  readonly #end = Promise.withResolvers<void>();
  /** Resolves when it is over. */
  readonly over: Promise<void> = this.#end.promise;
  isOver = false;

  end(): void {
    this.isOver = true;
    this.#end.resolve();
  }

  /**
   * What a process asks of the world outside of it. After a crash it fails, so
   * that what waits for an answer, and its timers, come to an end.
   */
  async whileAlive<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.isOver) throw new Crashed();
    const answer = await ask();
    if (this.isOver) throw new Crashed();
    return answer;
  }
}

/** A process is no longer there. */
export class Crashed extends TypeError {
  override readonly name = "Crashed";

  constructor() {
    super("The process has crashed");
  }
}

/** The database as a process sees it: by the shop's clock, until it crashes. */
class ProcessDriver implements Driver {
  readonly location: Driver["location"];
  readonly #driver: Driver;
  readonly #life: Life;
  readonly #now: () => number;

  constructor(driver: Driver, life: Life, now: () => number) {
    this.location = driver.location;
    this.#driver = driver;
    this.#life = life;
    this.#now = now;
  }

  batch(
    statements: readonly Statement[],
    mode: "read" | "write",
  ): Promise<ResultSet[]> {
    const now = Math.floor(this.#now());
    const timed = statements.map((statement) => {
      const { sql, args } = statement;
      if (!sql.includes(databaseNow)) return statement;
      const time = `?${args.length + 1}`;
      return {
        ...statement,
        sql: sql.replaceAll(databaseNow, time),
        args: [...args, now],
      };
    });
    return this.#life.whileAlive(() => this.#driver.batch(timed, mode));
  }

  /** The shop closes the database after its last process. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
