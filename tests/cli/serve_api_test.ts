import assert from "node:assert/strict";
import { main } from "../../cli/mod.ts";
import { temporaryLedger } from "../kit/cli.ts";
import { until } from "../kit/until.ts";

const TOKEN = "a-token-that-may-read";
const SECRET = "a-secret-of-webhooks";

Deno.test("serve --api-port tells through the API what a webhook claimed, and ends with an open stream", async () => {
  await using file = await temporaryLedger();
  const env: Readonly<Record<string, string>> = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_TOKENS: `read:${TOKEN}`,
  };
  const stop = new AbortController();
  let log = "";
  const serving = main(["serve", "--port", "0", "--api-port", "0"], {
    out: () => {},
    err: (text) => log += text,
    env: (name) => env[name],
    columns: null,
    colour: false,
    now: () => Date.now(),
    signal: stop.signal,
  });
  const urlOf = (event: string): string =>
    log.split("\n").filter(Boolean).map((line) => JSON.parse(line))
      .find((line) => line.event === event)?.url ?? "";
  await until(() => urlOf("api_listening") !== "", "the API listens");
  const api = urlOf("api_listening");
  const headers = { authorization: `Bearer ${TOKEN}` };
  const stream = await fetch(`${api}/v1/transitions`, {
    headers: { ...headers, accept: "text/event-stream" },
  });
  let told = "";
  const listening = (async () => {
    for await (
      const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []
    ) told += chunk;
  })();
  const delivered = await fetch(`${urlOf("listening")}/webhooks/${SECRET}`, {
    method: "POST",
    body: `{"type":"payment_started","click_id":"","order":{"id":"O1"}}`,
  });
  assert.equal(delivered.status, 204);
  await until(() => told.includes("order:O1:claimed."), "it is told");
  const order = await fetch(`${api}/v1/orders/O1`, { headers });
  assert.equal((await order.json()).trust, "claimed");
  // The token may read, and no more.
  const read = await fetch(`${api}/v1/poll`, { method: "POST", headers });
  assert.equal(read.status, 403);
  await read.body?.cancel();
  stop.abort();
  assert.equal(await serving, 0, log);
  await listening;
  assert.ok(!log.includes(TOKEN));
});
