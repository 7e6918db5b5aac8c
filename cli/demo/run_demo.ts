// @ts-types="@types/big.js"
import Big from "big.js";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { hex } from "@scure/base";
import {
  type AttentionKind,
  type Ledger,
  openLedger,
  type OrderState,
  type OrderView,
} from "../../ledger/mod.ts";
import {
  createSandbox,
  type Faults,
  type OrderInput,
  type OrderTruth,
  realClock,
  type Sandbox,
} from "../../sandbox/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";
import { LEDGER_PERMISSIONS } from "../program/source_program.ts";
import { messageOf } from "../../core/guards.ts";
import { OnrampClient } from "../../client/mod.ts";
import { countWaiting } from "../../resources/health/conditions.ts";
import { sell } from "../../server/start/sale.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import { createPoller } from "../../sync/mod.ts";
import { countDeliveries } from "../../ledger/for_cli.ts";
import { resolveEnvironment } from "../../core/assets/environment.ts";
import { aborted } from "../../core/settings/values.ts";

/** One field of one order in which ledger and service differ. */
export interface Difference {
  /** The order. */
  readonly orderId: string;
  /** The field, or `order` when one side lacks it. */
  readonly field: string;
  /** What the service says. */
  readonly service: string | null;
  /** What the ledger says. */
  readonly ledger: string | null;
}

/** Compares what the service truly holds with what the ledger says. */
export function differences(
  truth: readonly OrderTruth[],
  orders: ReadonlyMap<string, OrderState>,
): Difference[] {
  const known = new Set(truth.map(({ orderId }) => orderId));
  const extra = [...orders.keys()].filter((orderId) => !known.has(orderId));
  return [
    ...truth.flatMap((order) => ofOrder(order, orders.get(order.orderId))),
    ...extra.map((orderId) => ({
      orderId,
      field: "order",
      service: null,
      ledger: orderId,
    })),
  ];
}

function ofOrder(
  truth: OrderTruth,
  order: OrderState | undefined,
): Difference[] {
  const { orderId, crypto, ...shown } = truth;
  if (order === undefined) {
    return [{ orderId, field: "order", service: orderId, ledger: null }];
  }
  const [commodity, , network] = crypto.split(".");
  const fields = {
    ...shown,
    trust: "confirmed",
    commodity: commodity?.toUpperCase() ?? null,
    network: network ?? null,
    txId: shown.txId || null,
    failReason: shown.failReason || null,
    changedAt: `${shown.changedAt.replace(" ", "T")}Z`,
  } satisfies Partial<Record<keyof OrderState, string | null>>;
  return (Object.keys(fields) as (keyof typeof fields)[])
    .map((field) => ({
      ...{ orderId, field },
      service: fields[field],
      ledger: order[field],
    }))
    .filter(({ field, service, ledger }) => !same(field, service, ledger));
}

function same(field: string, a: string | null, b: string | null): boolean {
  if (a === b) return true;
  if (a === null || b === null || !field.endsWith("Amount")) return false;
  return new Big(a).eq(b);
}

/** The permissions of the endpoint, as in the `serve` task. */
const PERMISSIONS = [...LEDGER_PERMISSIONS, "--allow-net=127.0.0.1"];

/** A `serve` of its own process, started again on the same port at will. */
class EndpointProcess implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #reading: Promise<void> = Promise.resolve();
  #port = 0;

  /** @param env Settings of the endpoint. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Where it listens. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the process and waits until it listens. */
  async start(): Promise<void> {
    const main = new URL("../main.ts", import.meta.url);
    const [program, args] = "Deno" in globalThis
      ? ["deno", ["run", ...PERMISSIONS, main.href]]
      : [process.execPath, [fileURLToPath(main)]];
    const child = spawn(
      program,
      [...args, "serve", "--no-poll", "--port", String(this.#port)],
      {
        env: { ...process.env, ...this.#env },
        stdio: ["ignore", "ignore", "pipe"],
      },
    );
    this.#child = child;
    const listening = Promise.withResolvers<number>();
    child.once("error", listening.reject);
    this.#reading = readLog(child.stderr, listening);
    this.#port = await listening.promise;
  }

  /** Ends the process with SIGKILL: no chance to save anything. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Lets requests finish, folds the rest, and ends. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** Leaves no process behind. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill(signal)) await ended;
    await this.#reading;
  }
}

/** Reads the log until its end, and the port from its first entry. */
async function readLog(
  stream: Readable,
  listening: PromiseWithResolvers<number>,
): Promise<void> {
  listening.promise.catch(() => {});
  let text = "";
  for await (const part of stream.setEncoding("utf8")) {
    // The log of a whole run would be kept for its first line alone.
    if (text.length < 65_536) text += part;
    const port = /"event":"listening","url":"http:\/\/[^"]*:(\d+)"/.exec(text);
    if (port?.[1] !== undefined) listening.resolve(Number(port[1]));
  }
  listening.reject(
    new CommandError(`The endpoint ended before it listened: ${text.trim()}`),
  );
}

/** Says in the folder that a demo made the ledger there. */
const MARK = "made-by-demo.txt";

/** Where a demo puts its ledger. */
interface DemoFolder {
  /** The folder; it is made where it is missing. */
  readonly folder: string;
  /** Replaces whatever ledger is there. */
  readonly fresh: boolean;
  /** Called before an earlier ledger is deleted. */
  readonly onReplace: (text: string) => void;
}

/**
 * Makes room for the ledger of a demo.
 *
 * @throws {CommandError} When a ledger is there that no demo made.
 */
export async function freshLedger(
  { folder, fresh, onReplace }: DemoFolder,
): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `Cannot make the folder ${folder}: ${messageOf(error)}`,
    );
  }
  const names = await readdir(folder);
  if (names.includes("ledger.db")) {
    if (!names.includes(MARK) && !fresh) {
      throw new CommandError(
        `Cannot use the folder ${folder}: it holds a ledger of ` +
          "another program; name another with --folder, or have it deleted " +
          "with --fresh",
      );
    }
    onReplace(`Replacing the ledger of an earlier run: ${folder}/ledger.db`);
  }
  // Beside the file lie its log, its spool and whatever else belongs to it.
  for (const name of names.filter((name) => name.startsWith("ledger.db"))) {
    await rm(`${folder}/${name}`, { recursive: true });
  }
  await writeFile(`${folder}/${MARK}`, "demo\n");
  return `file:${folder}/ledger.db`;
}

/** What became of what the demo sold. */
interface DemoShop {
  /** Baskets that were sold. */
  readonly sold: number;
  /** Baskets that were shipped. */
  readonly shipped: number;
  /** Baskets that were shipped more than once. Always 0. */
  readonly shippedTwice: number;
  /** Orders that wait for a person, by why. */
  readonly waiting: readonly {
    readonly kind: AttentionKind;
    readonly count: number;
  }[];
}

/** What each basket costs, and what a customer who pays short pays. */
const PRICE = "49.90";
const SHORT = "4.99";

/** Of so many customers one pays short, and one pays the basket before again. */
const SHORT_EVERY = 7;
const TWICE_EVERY = 5;

/** Sells baskets by recorded sessions, and ships each on its release. */
class Shop {
  readonly #ledger: Ledger;
  readonly #sessions: OnrampClient["sessions"];
  readonly #shipped = new Map<string, Set<string>>();
  #customers = 0;
  #sold = 0;

  constructor(ledger: Ledger, { sessions }: Pick<OnrampClient, "sessions">) {
    this.#ledger = ledger;
    this.#sessions = sessions;
  }

  /** Sells to the next customer; what the order of it is to have. */
  async sells(): Promise<OrderInput> {
    const customer = ++this.#customers;
    if (customer % TWICE_EVERY !== 0) this.#sold++;
    const { clickId, sessionId } = await sell(
      { ledger: this.#ledger, sessions: this.#sessions },
      {
        reference: `basket-${this.#sold}`,
        ...{ currency: "USD", amount: PRICE },
        ...{ asset: "ETH", network: "sepolia" },
      },
    );
    const isShort = customer % SHORT_EVERY === 0;
    return {
      ...{ clickId, sessionId },
      ...isShort ? { currency: "USD", currencyAmount: SHORT } : {},
    };
  }

  /** Ships what was released since it was last called. */
  async ship(): Promise<void> {
    const shipping = await this.#ledger.subscribe(
      "demo",
      { on: "order.release.yes", from: "start", start: false },
      ({ key }, { reference }) => {
        if (reference === null) return;
        // A repeat has the key of the first call.
        const keys = this.#shipped.get(reference) ?? new Set();
        this.#shipped.set(reference, keys.add(key));
      },
    );
    try {
      while ((await shipping.dispatch()).delivered > 0);
    } finally {
      await shipping.stop();
    }
  }

  /** The baskets that were shipped. */
  get shipped(): readonly string[] {
    return [...this.#shipped.keys()];
  }

  /** What became of all of it. */
  async report(): Promise<DemoShop> {
    const { size } = this.#shipped;
    return {
      sold: this.#sold,
      shipped: size,
      shippedTwice: [...this.#shipped.values()].filter((keys) => keys.size > 1)
        .length,
      waiting: await countWaiting(this.#ledger, Date.now()),
    };
  }
}

/** How the demo runs. */
interface DemoOptions {
  /** Decides orders and faults. */
  readonly seed: number;
  /** Orders to send through their lives. */
  readonly orders: number;
  /** Folder of the ledger; an earlier demo's ledger there is replaced. */
  readonly folder: string;
  /** Replaces a ledger that the demo did not make as well. */
  readonly fresh: boolean;
  /** Called before an earlier ledger is deleted. */
  readonly onReplace: (text: string) => void;
  /** Ends the endpoint's process with SIGKILL halfway, and starts it again. */
  readonly crash: boolean;
  /** Ends the demo; the ledger stays as it is then. */
  readonly signal: AbortSignal;
  /** Called now and then with the number of orders. */
  readonly onProgress: (orders: number) => void;
  /** Called with each step. */
  readonly onStep: (text: string) => void;
}

/** Result of a demo. */
export interface DemoReport {
  /** Seed that repeats this run. */
  readonly seed: number;
  /** Orders at the service. */
  readonly ordersAtService: number;
  /** Orders in the ledger. */
  readonly ordersInLedger: number;
  /** Webhooks the service had to tell. */
  readonly webhooksSent: number;
  /** Webhooks that never arrived. */
  readonly webhooksLost: number;
  /** Deliveries of a webhook after its first. */
  readonly webhooksRepeated: number;
  /** Webhooks that arrived late or out of order. */
  readonly webhooksLate: number;
  /** Deliveries answered 204 that the ledger does not hold. Always 0. */
  readonly answeredAndMissing: number;
  /** Orders missing or in a wrong status while webhooks were all there was. */
  readonly wrongBeforePoll: number;
  /** Fields in which ledger and service differ at the end. */
  readonly differences: number;
  /** Those fields. */
  readonly differing: readonly Difference[];
  /** What was sold, what was shipped, and what waits for a person. */
  readonly shop: DemoShop;
  /** An order worth explaining: one of the most eventful; null without any. */
  readonly exampleOrderId: string | null;
  /** Database of the ledger. */
  readonly databaseUrl: string;
}

/** A bad network: what the seed draws from. */
const NETWORK: Partial<Faults> = {
  drop: 0.06,
  duplicate: 0.1,
  delay: 0.1,
  reorder: 0.1,
  answerLost: 0.03,
  requestLost: 0.03,
  sameSecond: 0.1,
};

/** Hours of orders in seconds. */
const FACTOR = 1200;
const SPAN_MS = 2 * 3_600_000;

/**
 * What a slow machine takes longer on this clock, ms: an order that seems to come
 * from the future is held to have begun when it was read.
 */
const SLOW_MS = 24 * 3_600_000;

/** Once the orders have lived, retries need not be waited for. */
const RETRY_FACTOR = 40_000;

const API_KEY = "demo-key";
const SECRET = "demo-secret-of-one-run";

/** Runs the demo from nothing to the comparison. */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const databaseUrl = await freshLedger({
    folder: options.folder,
    fresh: options.fresh,
    onReplace: options.onReplace,
  });
  // Orders begin and end in the past, so that the times in the ledger make
  // sense to a reader.
  const clock = realClock({
    factor: FACTOR,
    startMs: Date.now() - SPAN_MS - SLOW_MS,
  });
  await using sandbox = createSandbox({
    seed: options.seed,
    apiKey: API_KEY,
    clock,
    faults: NETWORK,
  });
  await using api = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler: sandbox.fetch,
  });
  const { signal } = options;
  const client = new OnrampClient({
    apiKey: API_KEY,
    environment: {
      ...resolveEnvironment("sandbox"),
      baseUrl: `http://127.0.0.1:${api.port}`,
    },
    requestsPerSecond: 500,
    maxInFlight: 8,
  });
  await using ledger = await openLedger({
    url: databaseUrl,
    environment: "sandbox",
    // What is sold is asked for when the customers come.
    now: () => clock.now(),
  });
  await ledger.goLive(new Date(clock.now()).toISOString());
  const shop = new Shop(ledger, client);
  await using endpoint = new EndpointProcess({
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_DATABASE_URL: databaseUrl,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  });
  await endpoint.start();
  sandbox.setWebhookUrl(`${endpoint.url}/webhooks/${SECRET}`);
  options.onStep(
    `Sandbox at http://127.0.0.1:${api.port}, endpoint at ${endpoint.url}`,
  );
  await unlessStopped(live(sandbox, endpoint, shop, options), signal);
  clock.setFactor(RETRY_FACTOR);
  options.onStep("All orders are finished; waiting for the last retries");
  await unlessStopped(sandbox.idle(), signal);
  await endpoint.stop();

  await ledger.project({ signal });
  const before = differences(sandbox.truth(), await allOrders(ledger));
  options.onStep(
    `Webhooks alone leave ${
      wrongOrders(before)
    } orders missing or in a wrong status; polling`,
  );
  await poll(ledger, client, signal);
  await shop.ship();
  await endpoint.start();
  options.onStep(
    "What was released is shipped; one payment is reversed, one success forged",
  );
  reverseOne(sandbox);
  sandbox.trigger({ type: "order_complete", fields: FORGED });
  await unlessStopped(sandbox.idle(), signal);
  await endpoint.stop();
  await ledger.project({ signal });
  await poll(ledger, client, signal);
  await shop.ship();
  return await result(sandbox, ledger, shop, {
    seed: options.seed,
    databaseUrl,
    wrongBeforePoll: wrongOrders(before),
  });
}

/** Waits for work that cannot be stopped; it ends with the sandbox. */
async function unlessStopped(
  work: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  work.catch(() => {});
  await Promise.race([work, aborted(signal)]);
  signal.throwIfAborted();
}

/** The service takes back the success of one order. */
function reverseOne(sandbox: Sandbox): void {
  const order = sandbox.orders().find(({ status }) => status === "success");
  if (order !== undefined) sandbox.advance(order.orderId, "cancel");
}

/** An order that the service never had. */
const FORGED = {
  order: { id: "01KFORGED00000000000000000", quote_amount: "49.90" },
};

async function live(
  sandbox: Sandbox,
  endpoint: EndpointProcess,
  shop: Shop,
  { orders, crash, signal, onProgress, onStep }: DemoOptions,
): Promise<void> {
  let crashed = !crash;
  const lives = sandbox.populate({
    orders,
    spanMs: SPAN_MS,
    sells: () => shop.sells(),
  });
  let over = false;
  const watching = (async () => {
    while (!over && !signal.aborted) {
      await sleep(50);
      const count = sandbox.orders().length;
      onProgress(count);
      if (!crashed && count >= orders / 2) {
        crashed = true;
        await endpoint.kill();
        onStep("Endpoint killed with SIGKILL; starting it again");
        await endpoint.start();
      }
    }
  })();
  await lives;
  over = true;
  await watching;
}

async function poll(
  ledger: Ledger,
  client: OnrampClient,
  signal: AbortSignal,
): Promise<void> {
  await createPoller({
    ledger,
    client,
    requestsPerSecond: 500,
    // What the service does not show now is not shown later either.
    contradictedAfterMs: 0,
  }).once({ signal });
  await ledger.project({ signal });
}

async function allOrders(
  ledger: Ledger,
): Promise<Map<string, OrderView>> {
  const orders = new Map<string, OrderView>();
  for await (const order of ledger.orders.list({})) {
    // A forged order is none: the service has never shown it.
    if (order.orderId !== FORGED.order.id || order.confirmed !== null) {
      orders.set(order.orderId, order);
    }
  }
  return orders;
}

async function result(
  sandbox: Sandbox,
  ledger: Ledger,
  shop: Shop,
  known: Pick<DemoReport, "seed" | "databaseUrl" | "wrongBeforePoll">,
): Promise<DemoReport> {
  const truth = sandbox.truth();
  const orders = await allOrders(ledger);
  const differing = differences(truth, orders);
  const { counters } = sandbox;
  const deliveries = sandbox.deliveries();
  const arrivals = deliveries.map(({ attempts }) =>
    attempts.filter(({ truth }) => truth.reached).length
  );
  return {
    seed: known.seed,
    ordersAtService: truth.length,
    ordersInLedger: orders.size,
    webhooksSent: deliveries.length,
    webhooksLost: arrivals.filter((count) => count === 0).length,
    webhooksRepeated: arrivals.reduce(
      (sum, count) => sum + Math.max(count - 1, 0),
      0,
    ),
    webhooksLate: counters.delayed + counters.reordered,
    answeredAndMissing: await answeredAndMissing(sandbox, ledger),
    wrongBeforePoll: known.wrongBeforePoll,
    differences: differing.length,
    differing,
    shop: await shop.report(),
    exampleOrderId: mostEventful(sandbox),
    databaseUrl: known.databaseUrl,
  };
}

/** The order whose webhooks came in the most attempts. */
function mostEventful(sandbox: Sandbox): string | null {
  const counts = new Map<string, number>();
  let most: string | null = null;
  for (const { orderId, attempts } of sandbox.deliveries()) {
    if (orderId === null) continue;
    const count = (counts.get(orderId) ?? 0) + attempts.length;
    counts.set(orderId, count);
    if (most === null || count > (counts.get(most) ?? 0)) most = orderId;
  }
  return most;
}

/** Counts deliveries answered 2xx that the ledger does not hold. */
async function answeredAndMissing(
  sandbox: Sandbox,
  ledger: Ledger,
): Promise<number> {
  const held = await countDeliveries(ledger.driver);
  const answered = new Map<string, number>();
  for (const { body, attempts } of sandbox.deliveries()) {
    const taken = attempts.filter(({ truth }) => truth.answered === 204).length;
    if (taken === 0) continue;
    const digest = await sha256(body);
    answered.set(digest, (answered.get(digest) ?? 0) + taken);
  }
  let missing = 0;
  for (const [digest, count] of answered) {
    missing += Math.max(count - (held.get(digest) ?? 0), 0);
  }
  return missing;
}

async function sha256(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return hex.encode(new Uint8Array(hash));
}

function wrongOrders(found: readonly Difference[]): number {
  const wrong = found.filter(({ field }) =>
    field === "order" || field === "status"
  );
  return new Set(wrong.map(({ orderId }) => orderId)).size;
}
