import type { HttpServer } from "../../../core/serving/http_server.ts";
import { openHttpServer } from "../../../core/serving/open_http_server.ts";
import { listening } from "../../../server/http/listening.ts";
import { aborted } from "../../../core/settings/stoppable.ts";
import {
  type Environment,
  OnrampClient,
  resolveEnvironment,
} from "../../../client/mod.ts";
import { createPoller, type Poller } from "../../../sync/mod.ts";
import { type Ledger, openLedger } from "../../../ledger/mod.ts";
import { hostCheck, wrongHost } from "../../../sandbox/testing/mod.ts";
import { ProjectionWorker } from "../../../ledger/for_server.ts";
import { type Sandbox, serveSandbox } from "../../../sandbox/mod.ts";
import { webhookEndpoint } from "../../../webhooks/mod.ts";
import { EXPLORERS } from "../../../server/console/context/explorers.ts";
import { openConsole } from "../../../server/console/open_console.ts";
import { freshLedger } from "../fresh_ledger.ts";
import { Board } from "./board.ts";
import { DemoClock } from "./demo_clock.ts";
import { demoActions } from "./demo_actions.ts";
import { drafts, shopSessions } from "./shop.ts";
import { shopApp } from "./shop_app.ts";
import type { Log } from "../../../server/monitoring/logger.ts";
import { Operations } from "../../../server/api/operations.ts";

/** How the demo in a browser runs. */
export interface BrowserDemoOptions {
  /** Port of the shop's page; 0 takes a free one. */
  readonly port: number;
  /** Decides ids and transactions of the service. */
  readonly seed: number;
  /** Folder of the ledger; an earlier demo's ledger there is replaced. */
  readonly folder: string;
  /** Replaces a ledger that the demo did not make as well. */
  readonly fresh: boolean;
  /** Called before an earlier ledger is deleted. */
  readonly onReplace: (text: string) => void;
  /** Clock, in ms since the epoch. */
  readonly now: () => number;
  /** Ends the demo. */
  readonly signal: AbortSignal;
  /** Called with the addresses once they can be opened. */
  readonly onReady: (addresses: BrowserDemoAddresses) => void;
  /** Called with each error; work is retried automatically. */
  readonly onError: (error: unknown) => void;
}

/** Where the demo is. */
export interface BrowserDemoAddresses {
  /** The shop's page. */
  readonly page: string;
  /** The sandbox's own page. */
  readonly control: string;
  /** The console over the shop's ledger. */
  readonly console: string;
  /** Database of the ledger. */
  readonly databaseUrl: string;
}

/** Slow enough for a person to see a claim before it is confirmed. */
const ASK_EVERY_MS = 2000;

/** How soon the page shows what the poller found, in ms. */
const LOOK_EVERY_MS = 250;

/** Goods leave the shop once an order is paid as its session asked for. */
const RELEASE_ON = "order.release.yes";

/** Everything that runs until the demo ends. */
interface World {
  readonly options: BrowserDemoOptions;
  readonly clock: DemoClock;
  readonly ledger: Ledger;
  readonly sandbox: Sandbox;
  readonly environment: Environment;
  readonly client: OnrampClient;
  readonly board: Board;
  readonly projection: ProjectionWorker;
}

/**
 * Runs the shop, the service, the webhook endpoint, the ledger and the poller
 * in this process, on loopback, until the signal says so.
 *
 * @throws {CommandError} When the port is taken.
 */
export async function runBrowserDemo(
  options: BrowserDemoOptions,
): Promise<void> {
  // A demo that cannot start must not delete the ledger of one that runs.
  await checkPort(options.port);
  const clock = new DemoClock(options.now());
  const databaseUrl = await freshLedger({
    folder: options.folder,
    made: "demo --browser",
    fresh: options.fresh,
    onReplace: options.onReplace,
  });
  await using ledger = await openLedger({
    url: databaseUrl,
    environment: "sandbox",
    now: clock.now,
  });
  const apiKey = crypto.randomUUID();
  await using service = await serveSandbox({
    port: 0,
    seed: options.seed,
    clock: clock.clock,
    apiKey,
  });
  const { sandbox, url } = service;
  const environment = resolveEnvironment({
    name: "sandbox",
    baseUrl: url,
    cardsBaseUrl: url,
    widgetOrigin: url,
    dashboardUrl: url,
    assets: "sandbox",
  });
  const client = new OnrampClient({
    environment,
    apiKey,
    requestsPerSecond: 20,
  });
  const board = new Board({ ledger, sandbox, clock });
  await ledger.subscribe(
    "release-goods",
    { on: RELEASE_ON },
    ({ id }) => {
      board.release(id);
      projection.wake();
    },
  );
  await using projection = new ProjectionWorker({
    catchUp: async (signal) => {
      const { position } = await ledger.project({ signal });
      await board.refresh(position);
    },
    onError: options.onError,
    idleMs: LOOK_EVERY_MS,
  });
  await serveShop({
    options,
    clock,
    ledger,
    sandbox,
    environment,
    client,
    board,
    projection,
  }, databaseUrl);
}

async function serveShop(world: World, databaseUrl: string): Promise<void> {
  const { options, clock, ledger, sandbox, environment, client } = world;
  const { board, projection } = world;
  const secret = crypto.randomUUID();
  const forged = new Set<string>();
  const webhooks = webhookEndpoint({
    append: async (delivery) => {
      // The ledger cannot tell a forged body; the page shows which one it was.
      if (forged.has(new TextDecoder().decode(delivery.body))) {
        board.markForged(delivery.id);
      }
      await ledger.appendDelivery(delivery);
      projection.wake();
    },
    unanswered: ledger.recordUnanswered,
    secrets: [secret],
    now: clock.now,
  });
  const log: Log = (level, event, fields) => {
    if (level !== "error") return;
    options.onError(new Error(`${event}: ${fields?.message}`));
  };
  const pages = await openConsole({
    ledger,
    now: clock.now,
    access: { kind: "open", operates: true },
    hostNames: [],
    dashboardUrl: `${environment.dashboardUrl}/control`,
    explorers: EXPLORERS,
    catchUp: () => Promise.resolve(),
    operations: new Operations({
      ledger,
      log,
      now: clock.now,
      poller: null,
      service: null,
      signal: options.signal,
    }),
    log,
  }, { port: 0, host: "127.0.0.1" });
  const app = shopApp({
    consoleUrl: pages.url,
    drafts: drafts(sandbox.partnerId, environment),
    widgetOrigin: environment.widgetOrigin,
    webhooks,
    sessions: shopSessions({ client, ledger, report: options.onError }),
    board,
    actions: demoActions({
      ledger,
      sandbox,
      clock,
      onForge: (body) => forged.add(body),
      leapOver: (act) => polling.leapOver(act),
      onPace: () => projection.wake(),
    }),
  });
  const isOurs = hostCheck();
  const server = await listen(
    options.port,
    (request, info) => isOurs(request) ? app(request, info) : wrongHost(),
  );
  const page = `http://127.0.0.1:${server.port}`;
  const poller = createPoller({
    ledger,
    client,
    now: clock.now,
    requestsPerSecond: 10,
    confirmEveryMs: ASK_EVERY_MS,
    openEveryMs: ASK_EVERY_MS,
    onError: options.onError,
  });
  const polling = new Polling(poller, options.signal);
  sandbox.setWebhookUrl(`${page}/webhooks/${secret}`);
  options.onReady({
    page,
    control: `${environment.baseUrl}/control`,
    console: pages.url,
    databaseUrl,
  });
  await aborted(options.signal);
  board.end();
  await server.shutdown();
  await pages.shutdown();
  await webhooks.drain();
  await polling.ended();
}

async function checkPort(port: number): Promise<void> {
  const server = await listen(port, () => new Response());
  await server.shutdown();
}

function listen(
  port: number,
  handler: ReturnType<typeof shopApp>,
): Promise<HttpServer> {
  return listening(
    "the shop",
    port,
    () => openHttpServer({ port, hostname: "127.0.0.1", handler }),
  );
}

/** Runs a poller that can be paused. */
export class Polling {
  readonly #poller: Poller;
  readonly #signal: AbortSignal;
  #pause = new AbortController();
  #running: Promise<void>;

  /** Starts it; the signal ends it for good. */
  constructor(poller: Poller, signal: AbortSignal) {
    this.#poller = poller;
    this.#signal = signal;
    this.#running = this.#run();
  }

  /**
   * Pauses the poller for `act`, then reads every open order at once. The
   * poller itself would come back minutes later to an order it has just read.
   */
  async leapOver(act: () => Promise<void>): Promise<void> {
    this.#pause.abort();
    await this.#running;
    try {
      await act();
      const { aborted } = this.#signal;
      if (!aborted) await this.#poller.once({ sweeps: ["open"] });
    } finally {
      this.#pause = new AbortController();
      this.#running = this.#run();
    }
  }

  /** Resolves once the signal has ended it. */
  ended(): Promise<void> {
    return this.#running;
  }

  #run(): Promise<void> {
    return this.#poller.run(
      AbortSignal.any([this.#signal, this.#pause.signal]),
    );
  }
}
