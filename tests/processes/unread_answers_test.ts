import assert from "node:assert/strict";
import { temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const CONNECTIONS = 40;
/** Each has an answer of a quarter of a megabyte: together more than a socket holds. */
const REQUESTS = 24;
/** The service waits for so long, ms. */
const SENDER_WAITS_MS = 5_000;

Deno.test("rampkit serve answers deliveries in time while many read no answer of its API, and stops", async () => {
  await using ledger = await temporaryLedger();
  await using served = await startServe({
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  }, ["--no-poll", "--api-port", "0"]);
  let port = 0;
  await until(() => {
    const line = served.log.find((one) => one.includes("api_listening"));
    if (line !== undefined) port = Number(new URL(JSON.parse(line).url).port);
    return port !== 0;
  });
  const request = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
  const requests = new TextEncoder().encode(request.repeat(REQUESTS));
  const connections: Deno.Conn[] = [];
  const flooding = Array.from({ length: CONNECTIONS }, async () => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    connections.push(connection);
    await connection.write(requests).catch(() => {});
  });
  try {
    for (let number = 0; number < 30; number++) {
      const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
        method: "POST",
        body: JSON.stringify({ type: "login", click_id: `c-${number}` }),
        signal: AbortSignal.timeout(SENDER_WAITS_MS),
      });
      await answer.body?.cancel();
      assert.equal(answer.status, 204);
    }
    await Promise.all(flooding);
    // Nobody hangs up: what is not read must not keep it from stopping.
    assert.equal(await served.stop(), 0);
    for (const line of served.log) {
      assert.ok(!line.includes("does not read"), line);
    }
  } finally {
    for (const connection of connections) connection.close();
  }
});
