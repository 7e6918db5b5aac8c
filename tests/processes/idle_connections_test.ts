import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";

const SECRET = "the-secret-in-the-webhook-address";
/** Descriptors that `serve` may have; it needs about thirty by itself. */
const LIMIT = 200;
const CONNECTIONS = 3 * LIMIT;
/** Connections that the process has to bear with the usual limits. */
const HALF_BODIES = 300;
const HALF_HEADERS = 500;
/** The service gives up after five seconds. */
const ANSWERED_WITHIN_MS = 4_500;
const encoder = new TextEncoder();

const HALF_HEADER = `POST /webhooks/${SECRET} HTTP/1.1\r\nHost: x\r\n`;
const HALF_BODY = `${HALF_HEADER}Content-Length: 1000\r\n\r\n{"type":`;

/** Connections that send a beginning and nothing more. */
class Idle implements Disposable {
  readonly #open: Deno.Conn[] = [];
  readonly #port: number;
  readonly #sent: Uint8Array;

  constructor(url: string, sent: string = HALF_HEADER) {
    this.#port = Number(new URL(url).port);
    this.#sent = encoder.encode(sent);
  }

  async add(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, async () => {
      try {
        const connection = await Deno.connect({
          hostname: "127.0.0.1",
          port: this.#port,
        });
        this.#open.push(connection);
        await connection.write(this.#sent);
      } catch {
        // Refused or cut off: that is what the limit is for.
      }
    }));
  }

  [Symbol.dispose](): void {
    for (const connection of this.#open) connection.close();
  }
}

/** Sends a delivery as the service does, again when it is cut off. */
async function deliver(served: Served, id: string): Promise<void> {
  const giveUpAt = performance.now() + 120_000;
  for (;;) {
    try {
      const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
        method: "POST",
        body: JSON.stringify({ type: "payment_started", order: { id } }),
        signal: AbortSignal.timeout(10_000),
      });
      await answer.body?.cancel();
      if (answer.status === 204) return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function logged(served: Served, event: string): number {
  return served.log.filter((line) => line.includes(`"event":"${event}"`))
    .length;
}

/** The program, with as many descriptors as it may have. */
function limited(program: readonly string[]): readonly string[] {
  return ["sh", "-c", `ulimit -n ${LIMIT} && exec "$@"`, "sh", ...program];
}

Deno.test("rampkit serve outlives connections that never finish their headers, and takes deliveries meanwhile and afterwards", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env, ["--no-poll"], limited);
  const ids: string[] = [];
  const send = async (id: string): Promise<void> => {
    await deliver(served, id);
    ids.push(id);
  };
  await send("before");
  {
    using idle = new Idle(served.url);
    const flood = (async () => {
      for (let wave = 0; wave < 4; wave++) await idle.add(CONNECTIONS / 4);
    })();
    for (let number = 0; number < 10; number++) await send(`while-${number}`);
    await flood;
    // Nobody hangs up: `serve` has to close what is idle by itself.
    for (let number = 0; number < 10; number++) await send(`held-${number}`);
  }
  assert.ok(logged(served, "idle_connections_closed") >= 1);
  assert.ok(
    logged(served, "idle_connections_closed") <= 2,
    "one line for all of it",
  );
  await send("after");
  const ready = await fetch(`${served.url}/readyz`);
  assert.equal((await ready.json()).ok, true);
  assert.equal(await served.stop(), 0);
  const listed = await cli(["orders", "list", "--json", "--limit", "0"], env);
  const stored = listed.out.trim().split("\n").map((text) =>
    JSON.parse(text).orderId
  );
  assert.deepEqual(stored.sort(), ids.sort());
});

Deno.test("rampkit serve answers each good delivery in time beside 300 half bodies and 500 half headers", async () => {
  await using ledger = await temporaryLedger();
  await using served = await startServe({
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  }, ["--no-poll"]);
  using headers = new Idle(served.url, HALF_HEADER);
  await headers.add(HALF_HEADERS);
  let slowestMs = 0;
  for (let number = 0; number < 40; number++) {
    // Each half body is answered after a while, so that others take its place.
    using bodies = new Idle(served.url, HALF_BODY);
    if (number % 10 === 0) await bodies.add(HALF_BODIES);
    const begunMs = performance.now();
    const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "login", click_id: `c-${number}` }),
      signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 204);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
  }
  assert.ok(slowestMs < ANSWERED_WITHIN_MS, `${slowestMs} ms`);
  assert.ok(!served.log.some((line) => line.includes("listening_publicly")));
  assert.equal(await served.stop(), 0);
});

Deno.test("rampkit serve says of a host that others reach that a proxy belongs in front", async () => {
  await using ledger = await temporaryLedger();
  await using served = await startServe(
    {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    },
    ["--no-poll", "--host", "0.0.0.0"],
    (program) =>
      program.map((argument) =>
        argument.startsWith("--allow-net") ? "--allow-net=0.0.0.0" : argument
      ),
  );
  assert.equal(await served.stop(), 0);
  assert.equal(logged(served, "listening_publicly"), 1);
});
