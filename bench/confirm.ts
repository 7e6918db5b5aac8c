import { defined } from "../core/guards.ts";
import { sleep } from "../core/waiting/sleep.ts";
import { OnrampClient } from "../client/mod.ts";
import { startOnramp } from "../server/start/start_onramp.ts";
import { type ServedSandbox, serveSandbox } from "../sandbox/mod.ts";
import { SECRET, wholeServer } from "./ingest_servers.ts";
import { boundRow, type Comparison, type Row } from "./measuring/comparison.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { interleave, median } from "./measuring/rounds.ts";
import { withFolder } from "./process.ts";

const WEBHOOK_SECRET = `whsec_${btoa("a secret of the benchmark alone")}`;
const rounds = 1;
/** Orders one after the other, and orders of a load. */
const idleOrders = 12;
const loadSeconds = 12;
const perSecond = 20;

/** How long each order took, in ms, and the service's own answer. */
interface Measured {
  readonly tookMs: readonly number[];
  readonly roundTripMs: number;
}

/** From the webhook that says so to the confirmed fact at the partner's door. */
export const confirm: Comparison = {
  name: "confirm",
  note:
    "The time from a webhook `order_complete` to the confirmed success at the " +
    "partner's door: at a receiver of forwarded webhooks, where `serve` is a " +
    "process of its own, and at a handler of `startOnramp` in this process. The " +
    "service is a sandbox in this process, asked four times a second. " +
    `An order has three webhooks. Idle: ${idleOrders} orders one after the ` +
    `other, with lives of 0.6 s. Load: ${perSecond} orders and ` +
    `${3 * perSecond} webhooks a second for ${loadSeconds} s, with lives of ` +
    "two seconds.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      let place = 0;
      const sides = await interleave(rounds, {
        receiver: () => atReceiver(`${folder}/${place++}`, idle),
        handler: () => atHandler(`${folder}/${place++}`, idle),
        load: () => atReceiver(`${folder}/${place++}`, underLoad),
      }, { say });
      const row = (
        name: string,
        { results, usages }: typeof sides.receiver,
        share: number,
        mostMs: number | null,
      ): Row => {
        const roundTripMs = median(results.map((one) => one.roundTripMs));
        return boundRow(`webhook to confirmed, ${name}`, {
          ours: results.map(({ tookMs }) => quantile(tookMs, share)),
          most: mostMs ?? roundTripMs + 50,
          unit: "ms",
          limit: limitOf(usages, "waiting: pauses, and the rate of requests"),
          details: {
            roundTripMs,
            orders: results.reduce((sum, one) => sum + one.tookMs.length, 0),
          },
        });
      };
      return [
        row("at a receiver, idle, median", sides.receiver, 0.5, null),
        row("at a receiver, idle, p99", sides.receiver, 0.99, 300),
        row("at a handler, idle, median", sides.handler, 0.5, null),
        row("at a handler, idle, p99", sides.handler, 0.99, 300),
        row("at a receiver, 20 orders/s, median", sides.load, 0.5, 600),
        row("at a receiver, 20 orders/s, p99", sides.load, 0.99, 2000),
      ];
    }),
};

/** When each order was said to be complete, and when that was confirmed. */
class Times {
  readonly #saidMs = new Map<string, number>();
  readonly tookMs = new Map<string, number>();

  /** Takes note of a webhook of the service. */
  said(body: string): void {
    const { type, order } = JSON.parse(body);
    if (type === "order_complete" && !this.#saidMs.has(order.id)) {
      this.#saidMs.set(order.id, performance.now());
    }
  }

  /** Takes note of a confirmed success. */
  confirmed(orderId: string): void {
    const saidMs = this.#saidMs.get(orderId);
    if (saidMs === undefined || this.tookMs.has(orderId)) return;
    this.tookMs.set(orderId, performance.now() - saidMs);
  }
}

/** What is done with the sandbox while it is measured. */
type Play = (served: ServedSandbox) => Promise<number>;

async function idle(served: ServedSandbox): Promise<number> {
  for (let i = 0; i < idleOrders; i++) {
    await live(served, 600);
    await sleep(500 + Math.random() * 500);
  }
  return idleOrders;
}

async function underLoad(served: ServedSandbox): Promise<number> {
  const lives: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let i = 1; i <= loadSeconds * perSecond; i++) {
    lives.push(live(served, 2000));
    await sleep(
      Math.max(0, beganMs + i * 1000 / perSecond - performance.now()),
    );
  }
  await Promise.all(lives);
  return lives.length;
}

/** One order from its first webhook to its third. */
async function live({ sandbox }: ServedSandbox, ms: number): Promise<void> {
  const { orderId } = sandbox.createOrder({ currencyAmount: "49.90" });
  for (const step of ["pay", "authorise"] as const) {
    sandbox.advance(orderId, step);
  }
  await sleep(ms / 2);
  sandbox.trigger({ type: "transfer_started", orderId });
  await sleep(ms / 2);
  sandbox.advance(orderId, "complete");
}

async function atReceiver(file: string, play: Play): Promise<Measured> {
  const times = new Times();
  await using served = await serveSandbox({ port: 0 });
  await using receiver = listen(async (request) => {
    const { type, data } = await request.json();
    if (type === "order.confirmed.success") times.confirmed(data.id);
    return new Response(null, { status: 204 });
  });
  await using server = await wholeServer(`${file}.db`, {
    RAMPKIT_API_KEY: served.sandbox.apiKey,
    RAMPKIT_BASE_URL: served.url,
    RAMPKIT_FORWARD_TO: urlOf(receiver),
    RAMPKIT_FORWARD_SECRET: WEBHOOK_SECRET,
  }, { poll: true });
  return await measure(
    served,
    times,
    play,
    (body) =>
      fetch(`${server.url}/webhooks/${SECRET}`, { method: "POST", body }),
  );
}

async function atHandler(file: string, play: Play): Promise<Measured> {
  const times = new Times();
  await using served = await serveSandbox({ port: 0 });
  await using onramp = await startOnramp({
    databaseUrl: `file:${file}.db`,
    environment: "sandbox",
    apiKey: served.sandbox.apiKey,
    baseUrl: served.url,
    webhookSecrets: SECRET,
    env: () => undefined,
    on: {
      "order.confirmed.success": ({ id }) => times.confirmed(id),
    },
  });
  return await measure(
    served,
    times,
    play,
    (body) =>
      onramp.webhooks(
        new Request(`http://127.0.0.1/webhooks/${SECRET}`, {
          method: "POST",
          body,
        }),
      ),
  );
}

/** Lets the sandbox play, and waits until all of it is confirmed. */
async function measure(
  served: ServedSandbox,
  times: Times,
  play: Play,
  deliver: (body: string) => Promise<Response>,
): Promise<Measured> {
  await using hooks = listen(async (request) => {
    const body = await request.text();
    times.said(body);
    return await deliver(body);
  });
  served.sandbox.setWebhookUrl(urlOf(hooks));
  await sleep(2500);
  const roundTripMs = await roundTrip(served);
  const orders = await play(served);
  const untilMs = performance.now() + 60_000;
  while (times.tookMs.size < orders) {
    if (performance.now() > untilMs) {
      throw new Error(`${times.tookMs.size} of ${orders} were confirmed`);
    }
    await sleep(20);
  }
  return { tookMs: [...times.tookMs.values()], roundTripMs };
}

/** What one question to the service takes, ms. */
async function roundTrip(served: ServedSandbox): Promise<number> {
  const client = clientOf(served, 1000);
  const took: number[] = [];
  for (let i = 0; i < 5; i++) {
    const beganMs = performance.now();
    await client.orders.page({ limit: 1 });
    took.push(performance.now() - beganMs);
  }
  return median(took);
}

function clientOf(
  { url, sandbox: { apiKey } }: ServedSandbox,
  requestsPerSecond?: number,
): OnrampClient {
  return new OnrampClient({
    environment: {
      name: "bench",
      baseUrl: url,
      cardsBaseUrl: url,
      widgetOrigin: url,
      dashboardUrl: url,
    },
    apiKey,
    ...defined({ requestsPerSecond }),
  });
}

function listen(
  handler: (request: Request) => Promise<Response>,
): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    handler,
  );
}

function urlOf({ addr }: Deno.HttpServer<Deno.NetAddr>): string {
  return `http://127.0.0.1:${addr.port}/`;
}

function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[
    Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  ] ??
    NaN;
}
