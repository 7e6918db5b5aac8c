import assert from "node:assert/strict";
import { until } from "../../tests/kit/until.ts";
import { boundedAnswers } from "./bounded_answers.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";

const info = { remoteAddr: { hostname: "127.0.0.1" } };
const request = () => new Request("http://localhost/");
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

Deno.test("boundedAnswers() gives every answer as it is", async () => {
  const bodies = ["", "short", "x".repeat(16_384), "long".repeat(100_000)];
  for (const body of bodies) {
    const bounded = boundedAnswers(() =>
      new Response(body, { status: 201, headers: { "x-a": "b" } })
    );
    for (let again = 0; again < 20; again++) {
      const answer = await bounded(request(), info);
      assert.equal(answer.status, 201);
      assert.equal(answer.headers.get("x-a"), "b");
      assert.equal(await answer.text(), body);
    }
  }
  const without = boundedAnswers(() => new Response(null, { status: 204 }));
  assert.equal((await without(request(), info)).body, null);
});

Deno.test("boundedAnswers() handles a few at a time, has some wait, and refuses the others", async () => {
  const open: (() => void)[] = [];
  const bounded = boundedAnswers(
    () => new Promise((resolve) => open.push(() => resolve(new Response("a")))),
    { handled: 2, waiting: 3 },
  );
  const answers = Array.from({ length: 7 }, () => bounded(request(), info));
  await turn();
  assert.equal(open.length, 2);
  for (const refused of answers.slice(5)) {
    const { status, headers } = await refused;
    assert.equal(status, 503);
    assert.equal(headers.get("connection"), "close");
  }
  for (let answered = 0; answered < 5; answered++) {
    // They rest for half of the time that the last one took.
    await until(() => open.length === Math.min(5, answered + 2));
    open[answered]?.();
    await (await answers[answered])?.text();
  }
  for (const answer of answers.slice(0, 5)) {
    assert.equal((await answer).status, 200);
  }
});

Deno.test("boundedAnswers() begins no request while too many long answers are not read, and cuts those off", async () => {
  let handled = 0;
  const bounded = boundedAnswers(() => {
    handled++;
    return new Response("x".repeat(1 << 20));
  }, { sent: 2, stallMs: 500 });
  const unread = [];
  for (let n = 0; n < 2; n++) {
    const { body } = await bounded(request(), info);
    const reader = body?.getReader();
    unread.push(reader);
    assert.equal((await reader?.read())?.value?.length, 16_384);
  }
  const third = bounded(request(), info);
  await turn();
  assert.equal(handled, 2);
  assert.equal((await (await third).text()).length, 1 << 20);
  for (const reader of unread) {
    await reader?.closed;
    assert.equal((await reader?.read())?.done, true);
  }
});

Deno.test("boundedAnswers() holds no place for an answer that waits for something", async () => {
  const bounded = boundedAnswers(() => {
    const { readable, writable } = new TransformStream<
      Uint8Array,
      Uint8Array
    >();
    setTimeout(async () => {
      const writer = writable.getWriter();
      await writer.write(new TextEncoder().encode("at last"));
      await writer.close();
    }, 30);
    return new Response(readable);
  }, { handled: 1, sent: 1 });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => bounded(request(), info)),
  );
  for (const answer of answers) assert.equal(await answer.text(), "at last");
});

Deno.test("boundedAnswers() closes a connection that does not read its answer", async () => {
  let isAsked = false;
  await using server = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler: boundedAnswers(() => {
      isAsked = true;
      return new Response("x".repeat(32 << 20));
    }, { stallMs: 100 }),
  });
  using connection = await Deno.connect({
    hostname: "127.0.0.1",
    port: server.port,
  });
  await connection.write(
    new TextEncoder().encode(
      "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ),
  );
  await until(() => isAsked);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  let bytes = 0;
  const buffer = new Uint8Array(1 << 20);
  try {
    for (let count; (count = await connection.read(buffer)) !== null;) {
      bytes += count;
    }
  } catch {
    // Cut off.
  }
  assert.ok(bytes < 32 << 20, "the whole answer came");
});
