/**
 * Several machines with one ledger on a server: what is killed, and what has to
 * be true afterwards.
 */
import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { LedgerError, openLedger } from "../../ledger/mod.ts";
import { sleep } from "../../core/waiting/waiting.ts";
import { patient } from "../../ledger/testing/patient.ts";
import {
  type SqldServer,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { type Sandbox, serveSandbox } from "../../sandbox/mod.ts";
import { SECRET as FORWARD_SECRET } from "../../server/forwarding/testing/forwarding_kit.ts";
import { cli } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const RECEIVERS = 3;
/** Each machine is killed, one of them twice, and the primary once. */
const INTERRUPTIONS = RECEIVERS + 2;
/** What is told again after each: deliveries are written down in such groups. */
const GROUP = 128;

/** What a run goes through. */
export interface Hardship {
  /** How long the primary is stopped, ms. */
  readonly outageMs: number;
  /** Orders that are paid in a second, each with three webhooks. */
  readonly ordersPerSecond: number;
}

/** A machine: its `serve`, its spool, and the requests of its poller. */
interface Machine {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  serve: Served | null;
}

/** A request of a poller, and by which machine. */
interface Asked {
  readonly by: string;
  readonly from: number;
  to: number;
}

/**
 * Takes webhooks with three machines while each is killed once and started
 * again, and while the primary is stopped and started again, and holds the
 * ledger against what was answered.
 */
export async function severalReceivers(
  { outageMs, ordersPerSecond }: Hardship,
): Promise<void> {
  await using folder = await temporaryFolder();
  await using stack = new AsyncDisposableStack();
  const stored = { directory: `${folder.path}/primary` };
  let primary = await startSqld(stored);
  stack.defer(() => primary.stop({ hard: true }));
  const replica = await startSqld({
    directory: `${folder.path}/replica`,
    primary,
  });
  stack.defer(() => replica.stop({ hard: true }));
  const { port, replicationPort } = primary;
  const reader = stack.use(new ReplicaReader(replica));

  const { sandbox } = stack.use(await serveSandbox({ port: 0 }));
  const asked: Asked[] = [];
  const target = stack.use(receiver());
  const machines: Machine[] = Array.from({ length: RECEIVERS }, (_, index) => {
    const name = `machine-${index}`;
    // Each asks the service at an address of its own, so that it is seen who.
    const service = stack.use(Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const one: Asked = { by: name, from: performance.now(), to: Infinity };
        asked.push(one);
        const answer = await sandbox.fetch(request);
        one.to = performance.now();
        return answer;
      },
    ));
    return {
      name,
      serve: null,
      env: {
        RAMPKIT_DATABASE_URL: primary.url,
        RAMPKIT_ENVIRONMENT: "sandbox",
        RAMPKIT_WEBHOOK_SECRET: SECRET,
        RAMPKIT_SPOOL_DIR: `${folder.path}/${name}`,
        RAMPKIT_API_KEY: sandbox.apiKey,
        RAMPKIT_BASE_URL: `http://127.0.0.1:${service.addr.port}`,
        RAMPKIT_FORWARD_SECRET: FORWARD_SECRET,
        RAMPKIT_FORWARD_TO: `${target.url} order.*.*`,
      },
    };
  });
  const start = async (machine: Machine) => {
    machine.serve = await startServe(machine.env, ["--rate", "20"]);
  };
  const kill = async (machine: Machine) => {
    const { serve } = machine;
    machine.serve = null; // The balancer sends nothing more there.
    await serve?.kill();
  };
  stack.defer(async () => {
    for (const machine of machines) await kill(machine);
  });
  for (const machine of machines) await start(machine);

  const sender = new Sender(machines, sandbox);
  const sending = sender.send(ordersPerSecond);
  const answeredMore = async (count: number) => {
    const before = sender.answered.length;
    await until(() => sender.answered.length >= before + count);
  };
  for (const machine of machines) {
    await answeredMore(20);
    await kill(machine);
    await answeredMore(10);
    await start(machine);
  }
  await answeredMore(20);
  const [, second] = machines as [Machine, Machine];

  assert.ok(reader.orders > 0);

  // The primary is away: webhooks are answered all the same.
  await primary.stop({ hard: true });
  const away = performance.now();
  const before = sender.answered.length;
  const refusedBefore = sender.refused;
  await answeredMore(20);
  // What this one holds waits on its disk until it is started again.
  await kill(second);
  await new Promise((resolve) =>
    setTimeout(resolve, outageMs - (performance.now() - away))
  );
  assert.ok(sender.answered.length > before + 20);
  assert.ok(
    sender.refused - refusedBefore <= 8,
    `${sender.refused - refusedBefore} webhooks were refused`,
  );
  primary = await startSqld({ ...stored, port, replicationPort });
  await start(second);
  await answeredMore(20);
  sender.stop();
  await sending;

  // The replica goes on once its primary is back.
  const { answers } = reader;
  await until(() => reader.answers > answers + 1);

  // Everything comes to rest, with nobody's help.
  for (const { serve } of machines) await serve?.settled();
  const orders = sandbox.orders().length;
  await using ledger = await openLedger({ url: primary.url, ...patient });
  const confirmed = () =>
    count(
      ledger,
      "SELECT count(*) FROM orders WHERE trust = 'confirmed' AND status = 'success'",
    );
  for (let known = 0; known < orders;) {
    const before = known;
    await until(async () => (known = await confirmed()) > before);
  }
  await until(async () => (await ledger.stats()).lag === 0);
  const logged = await rows(
    ledger,
    "SELECT 'order:' || id || ':' || code, count(*) " +
      "FROM log JOIN orders USING (no) " +
      "WHERE code NOT LIKE 'release.%' AND code NOT LIKE 'witness.%' GROUP BY 1",
  );
  await until(
    () => logged.every(([key]) => target.keys.has(String(key))),
    "every transition has come to the target",
  );
  for (const { serve } of machines) {
    assert.ok(serve !== null);
    assert.equal(await serve.stop(), 0, serve.log.slice(-5).join("\n"));
  }
  for (const { name, env } of machines) {
    const left = [...Deno.readDirSync(env.RAMPKIT_SPOOL_DIR ?? "")];
    assert.deepEqual(left, [], `${name} has nothing in its spool`);
  }

  await until(() => reader.orders === orders, "the replica has all orders");

  // Nothing answered is lost, and nothing is stored twice.
  const bodies = (await rows(
    ledger,
    "SELECT CAST(body AS TEXT) FROM events WHERE kind = 'webhook'",
  )).map(([body]) => String(body));
  const found = new Set(bodies);
  assert.equal(found.size, bodies.length, "a delivery is stored twice");
  for (const body of sender.answered) assert.ok(found.has(body), body);
  // Each transition was logged once, and came under one id, however often.
  for (const [key, times] of logged) assert.equal(times, 1, String(key));
  assert.deepEqual(
    [...target.keys].filter(([, ids]) => ids.size > 1),
    [],
    "a receiver knows a repeat by its id",
  );
  const repeats = target.came - target.keys.size;
  assert.ok(repeats <= INTERRUPTIONS * GROUP, `${repeats} were told again`);
  assertOnePoller(asked);
  const verified = await cli(
    ["ledger", "verify", "--states", "--json"],
    { RAMPKIT_DATABASE_URL: primary.url },
  );
  assert.equal(verified.code, 0, verified.out + verified.err);
}

/** Pollers take turns: no request of one falls into the turn of another. */
function assertOnePoller(asked: readonly Asked[]): void {
  let turns = 0;
  let last: Asked | undefined;
  for (const one of asked.toSorted((a, b) => a.from - b.from)) {
    if (last !== undefined && last.by !== one.by) {
      turns++;
      assert.ok(last.to <= one.from, `${last.by} and ${one.by} ask at once`);
    }
    last = one;
  }
  // Kills, the outage, and the end: each may pass the lease on once.
  assert.ok(turns <= INTERRUPTIONS + 2, `${turns} turns`);
}

/** Sends webhooks of a sandbox's orders to the machines that are up. */
class Sender {
  /** Bodies that were answered 204. */
  readonly answered: string[] = [];
  /** Webhooks that got no 204. */
  refused = 0;
  readonly #machines: readonly Machine[];
  readonly #sandbox: Sandbox;
  #sent = 0;
  #stopped = false;

  constructor(
    machines: readonly Machine[],
    sandbox: Sandbox,
  ) {
    this.#machines = machines;
    this.#sandbox = sandbox;
  }

  async send(ordersPerSecond: number): Promise<void> {
    const lives: Promise<void>[] = [];
    while (!this.#stopped) {
      lives.push(this.#order());
      await new Promise((resolve) =>
        setTimeout(resolve, 1000 / ordersPerSecond)
      );
    }
    await Promise.all(lives);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #order(): Promise<void> {
    const { orderId } = this.#sandbox.createOrder();
    this.#sandbox.advance(orderId, "pay");
    await this.#post("payment_started", orderId);
    await this.#post("transfer_started", orderId);
    this.#sandbox.advance(orderId, "complete");
    await this.#post("order_complete", orderId);
  }

  async #post(type: string, id: string): Promise<void> {
    const n = this.#sent++;
    const body = JSON.stringify({ type, n, order: { id } });
    const up = this.#machines.filter(({ serve }) => serve !== null);
    const url = up[n % up.length]?.serve?.url;
    try {
      const answer = await fetch(`${url}/webhooks/${SECRET}`, {
        method: "POST",
        body,
      });
      await answer.body?.cancel();
      if (answer.status === 204) this.answered.push(body);
      else this.refused++;
    } catch {
      this.refused++; // The machine was killed; the service would try again.
    }
  }
}

/** A target of transitions, which counts what comes by key and message. */
function receiver() {
  const keys = new Map<string, Set<string>>();
  const webhook = new Webhook(FORWARD_SECRET);
  const state = { came: 0 };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const headers = Object.fromEntries(request.headers);
      const { data } = webhook.verify(await request.text(), headers) as {
        readonly data: { readonly key: string };
      };
      state.came++;
      const ids = keys.get(data.key) ?? new Set();
      keys.set(data.key, ids.add(headers["webhook-id"] ?? ""));
      return new Response(null, { status: 204 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hooks`,
    keys,
    get came() {
      return state.came;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Reads at a replica again and again. While its primary is away a replica does
 * not answer: this sqld lets readers wait, and they give up. Once a primary
 * that was killed is back, a replica replays all from the beginning.
 */
class ReplicaReader {
  /** Orders in the latest answer. */
  orders = 0;
  /** Answers so far. */
  answers = 0;
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  constructor(replica: SqldServer) {
    this.#reading = this.#read(replica.url);
  }

  async #read(url: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(500);
      try {
        await using ledger = await openLedger({ url, readOnly: true });
        const { orders } = await ledger.stats();
        this.orders = orders;
        this.answers++;
      } catch (error) {
        if (!(error instanceof LedgerError)) throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }
}

type Reader = Pick<Awaited<ReturnType<typeof openLedger>>, "driver">;

async function rows({ driver }: Reader, sql: string) {
  const [result] = await driver.batch([{ sql, args: [] }], "read");
  return result?.rows ?? [];
}

async function count(ledger: Reader, sql: string): Promise<number> {
  return Number((await rows(ledger, sql))[0]?.[0]);
}
