import assert from "node:assert/strict";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { transitionsAfter } from "../../resources/queries/deliveries.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { until } from "../../tests/kit/until.ts";
import {
  memoryLedger,
  READ,
  type TestApi,
  testApi,
} from "./testing/test_api.ts";
import {
  type StreamSource,
  TransitionFeed,
  transitionStream,
} from "./follow_feed.ts";

/** Long enough for a machine that is busy with other tests. */
const PATIENCE_MS = 120_000;

const STREAM = { accept: "text/event-stream" };

/** One event of a stream, as a client reads it. */
interface StreamEvent {
  readonly id: string;
  readonly data: string;
}

/** Adds an order, and with it one transition of it. */
async function add(ledger: Ledger, orderId: string): Promise<void> {
  await ledger.append([orderRead(1, { orderId, status: "pending" })]);
  await ledger.project();
}

/** Reads events as a client does; comments alone give none. */
async function* eventsOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<StreamEvent> {
  assert.ok(body);
  // A transition that never comes is a failure, and must not hang.
  const late = AbortSignal.timeout(PATIENCE_MS);
  let text = "";
  const chunks = body.pipeThrough(new TextDecoderStream(), { signal: late });
  for await (const chunk of chunks) {
    text += chunk;
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end < 0) break;
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) yield { id: field("id") ?? "", data };
    }
  }
}

async function openStream(
  api: TestApi,
  query = "",
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await api.get(`/v1/transitions${query}`, {
    ...STREAM,
    ...headers,
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  return answer;
}

Deno.test("a stream of transitions sends each once and in order, also those that come while it is read", async () => {
  await using api = await testApi();
  for (const id of ["O1", "O2"]) await add(api.ledger, id);
  const answer = await openStream(api);
  const seen: string[] = [];
  for await (const { id, data } of eventsOf(answer.body)) {
    const transition = JSON.parse(data);
    assert.equal(String(transition.seq), id);
    seen.push(transition.id);
    // Added between two reads of the client.
    if (seen.length < 6) await add(api.ledger, `O${seen.length + 2}`);
    if (seen.length === 7) break;
  }
  assert.deepEqual(seen, ["O1", "O2", "O3", "O4", "O5", "O6", "O7"]);
});

Deno.test("a stream goes on after Last-Event-ID, whatever `after` says", async () => {
  await using api = await testApi();
  for (const id of ["O1", "O2", "O3"]) await add(api.ledger, id);
  const answer = await openStream(api, "?after=0", { "last-event-id": "2" });
  for await (const { data } of eventsOf(answer.body)) {
    assert.equal(JSON.parse(data).id, "O3");
    break;
  }
  const wrong = await api.get("/v1/transitions", {
    ...STREAM,
    "last-event-id": "x",
  });
  assert.equal(wrong.status, 400);
  assert.match((await wrong.json()).detail, /Wrong Last-Event-ID: "x"/);
});

Deno.test("a stream of those to come begins with the next", async () => {
  await using api = await testApi();
  await add(api.ledger, "O1");
  const answer = await openStream(api, "?after=latest");
  const events = eventsOf(answer.body);
  const first = events.next();
  await add(api.ledger, "O2");
  assert.equal(JSON.parse((await first).value?.data ?? "{}").id, "O2");
  await events.return(undefined);
});

Deno.test("a stream ends when the server stops, and gives its place back", async () => {
  await using api = await testApi();
  const answer = await openStream(api);
  const all = Array.fromAsync(eventsOf(answer.body));
  api.stop();
  assert.deepEqual(await all, []);
});

Deno.test("a stream passes over what does not match, and its heartbeat says how far it came", async () => {
  await using ledger = await memoryLedger();
  const feed = new TransitionFeed(ledger);
  for (const id of ["O1", "O2"]) await add(ledger, id);
  const stop = new AbortController();
  const read: StreamSource["read"] = (place) =>
    transitionsAfter(ledger, { ...place, on: ({ id }) => id === "O3" });
  const stream = transitionStream({ feed, read }, {
    after: 0,
    signal: stop.signal,
    onEnd: () => {},
    heartbeatMs: 1,
  });
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const untilSaid = (words: string) =>
    until(async () => {
      if (!text.includes(words)) text += (await reader.read()).value ?? "";
      return text.includes(words);
    }, `the stream says ${words}`);
  await untilSaid("id: 2\n");
  assert.ok(!text.includes("data:"), text);
  await add(ledger, "O3");
  await untilSaid("data:");
  assert.match(text, /id: 3\nevent: transition\ndata: \{.*"key":"order:O3:/);
  await reader.cancel();
  await feed.stop();
});

Deno.test("a client that does not read makes the stream read nothing", async () => {
  await using ledger = await memoryLedger();
  await ledger.append(
    Array.from(
      { length: 500 },
      (_, index) =>
        orderRead(index, { orderId: `O${index}`, status: "pending" }),
    ),
  );
  await ledger.project();
  let reads = 0;
  const counting = new Proxy(ledger, {
    get: (target, name) => {
      if (name === "transitions") reads++;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const feed = new TransitionFeed(ledger);
  const read: StreamSource["read"] = (place) =>
    transitionsAfter(counting, place);
  const stream = transitionStream({ feed, read }, {
    after: 0,
    signal: new AbortController().signal,
    onEnd: () => {},
  });
  const reader = stream.getReader();
  await reader.read(); // The opening.
  await reader.read();
  assert.equal(reads, 1);
  // Time in which it could read ahead, if it did.
  for (let turn = 0; turn < 20; turn++) await ledger.lag();
  assert.equal(reads, 1);
  await reader.cancel();
});

Deno.test("long polling waits for the next transition, and answers at once where there is one", async () => {
  await using api = await testApi();
  const waiting = api.get("/v1/transitions?wait=60");
  await add(api.ledger, "O1");
  const first = await (await waiting).json();
  assert.deepEqual(
    first.items.map(({ id }: { id: string }) => id),
    ["O1"],
  );
  const again = await (await api.get("/v1/transitions?wait=60")).json();
  assert.deepEqual(again, first);
});

Deno.test("long polling answers with nothing and the same place when the time is over, or the server stops", async () => {
  await using api = await testApi();
  await add(api.ledger, "O1");
  const empty = { items: [], next: 1 };
  const over = await api.get("/v1/transitions?after=1&wait=1");
  assert.deepEqual(await over.json(), empty);
  const stopped = api.get("/v1/transitions?after=1&wait=60");
  api.stop();
  assert.deepEqual(await (await stopped).json(), empty);
});

Deno.test("no more than a hundred clients wait at a time", async () => {
  await using api = await testApi();
  const open: Response[] = [];
  for (let index = 0; index < 100; index++) open.push(await openStream(api));
  for (const headers of [STREAM, { accept: "application/json" }]) {
    const refused = await api.get("/v1/transitions?wait=1", headers);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "30");
    await refused.body?.cancel();
  }
  await open.pop()?.body?.cancel();
  open.push(await openStream(api));
  for (const { body } of open) await body?.cancel();
});

Deno.test("a client that is gone gives its place back before its time is over", async () => {
  await using api = await testApi();
  await using server = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler: (request) => api.fetch(request),
  });
  const gone = new AbortController();
  const path = "/v1/transitions?wait=60";
  await Promise.all(
    Array.from(
      { length: 100 },
      () =>
        fetch(`http://127.0.0.1:${server.port}${path}`, {
          headers: { authorization: `Bearer ${READ}` },
          signal: gone.signal,
        }),
    ),
  );
  const refused = await api.get(path);
  assert.equal(refused.status, 503);
  await refused.body?.cancel();
  gone.abort();
  await until(async () => {
    const answer = await api.get(path);
    await answer.body?.cancel();
    return answer.status === 200;
  });
});

Deno.test("TransitionFeed asks the database once for all who wait, and never while nobody does", async () => {
  await using ledger = await memoryLedger();
  let looks = 0;
  let nextLook = Promise.withResolvers<void>();
  const feed = new TransitionFeed(ledger, () => {
    looks++;
    return nextLook.promise;
  });
  const { signal } = new AbortController();
  const waiting = [0, 0, 0].map((after) => feed.waitFor(after, 60_000, signal));
  await add(ledger, "O1");
  await until(() => looks > 0);
  assert.equal(looks, 1);
  const before = nextLook;
  nextLook = Promise.withResolvers();
  before.resolve();
  assert.deepEqual(await Promise.all(waiting), [true, true, true]);
  nextLook.resolve();
  await feed.stop();
  assert.ok(looks <= 2, `${looks} looks`);
});
