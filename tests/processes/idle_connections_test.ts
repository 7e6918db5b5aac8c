import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
/** Descriptors that `serve` may have; it needs about thirty by itself. */
const LIMIT = 200;
const CONNECTIONS = 3 * LIMIT;
/** Descriptors from which on `serve` closes idle connections by itself. */
const CROWD = 384;
const encoder = new TextEncoder();

/** Connections whose headers never end, as many as can be opened at once. */
class Idle implements Disposable {
  readonly #open: Deno.Conn[] = [];
  readonly #port: number;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  async add(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, async () => {
      try {
        const connection = await Deno.connect({
          hostname: "127.0.0.1",
          port: this.#port,
        });
        this.#open.push(connection);
        await connection.write(
          encoder.encode(`POST /webhooks/${SECRET} HTTP/1.1\r\nHost: x\r\n`),
        );
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
  assert.ok(logged(served, "connections_dropped") >= 1);
  assert.ok(
    logged(served, "connections_dropped") <= 2,
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

Deno.test("rampkit serve makes room when idle connections come one after the other, and nobody hangs up", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env, ["--no-poll"], limited);
  using idle = new Idle(served.url);
  const giveUpAt = performance.now() + 120_000;
  while (logged(served, "connections_dropped") === 0) {
    assert.ok(performance.now() < giveUpAt, "nothing was dropped");
    await idle.add(1);
  }
  await deliver(served, "order-1");
  assert.equal(await served.stop(), 0);
});

Deno.test("rampkit serve --console takes deliveries while its pages are flooded with idle connections", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const flags = ["--no-poll", "--console", "0"];
  await using served = await startServe(env, flags, limited);
  let url = "";
  await until(() => {
    const line = served.log.find((one) => one.includes("console_listening"));
    if (line !== undefined) url = JSON.parse(line).url;
    return url !== "";
  });
  using idle = new Idle(url);
  await idle.add(CONNECTIONS);
  await until(() => logged(served, "connections_dropped") > 0);
  await deliver(served, "order-1");
  assert.equal(await served.stop(), 0);
});

Deno.test("rampkit serve closes a crowd of connections that were answered and stay open, and takes deliveries afterwards", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  await using served = await startServe(env, ["--no-poll"]);
  const port = Number(new URL(served.url).port);
  const open = await Promise.all(
    Array.from({ length: CROWD + 100 }, async (_, number) => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      const body = JSON.stringify({ order: { id: `order-${number % 3}` } });
      await connection.write(encoder.encode(
        `POST /webhooks/${SECRET} HTTP/1.1\r\nHost: x\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      ));
      return connection;
    }),
  );
  try {
    let closed = 0;
    for (const connection of open) {
      void (async () => {
        const answers = new Uint8Array(1024);
        while (await connection.read(answers) !== null);
        closed++;
      })().catch(() => {});
    }
    await until(() => closed >= 100);
    assert.equal(logged(served, "connections_dropped"), 1);
    await deliver(served, "after");
    assert.equal(await served.stop(), 0);
  } finally {
    for (const connection of open) connection.close();
  }
});
