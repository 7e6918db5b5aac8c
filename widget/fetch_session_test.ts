import assert from "node:assert/strict";
import { fetchSession } from "./session_opener.ts";

const url = "https://shop.example/session";

/** A `fetch` that notes its requests and answers the same each time. */
function answering(body: BodyInit | null, init?: ResponseInit) {
  const requests: Request[] = [];
  const fake: typeof fetch = (input, options) => {
    requests.push(new Request(input as URL | string, options));
    return Promise.resolve(new Response(body, init));
  };
  return { fetch: fake, requests };
}

Deno.test("fetchSession() posts JSON and gives a ticket that dates from the asking", async () => {
  const { fetch, requests } = answering('{"session_id":"s","click_id":"c"}');
  let clock = 5_000;
  const ticket = await fetchSession(url, {
    fetch,
    input: { basket: 1 },
    now: () => clock++,
  });
  assert.equal(ticket.askedAt, 5_000);
  assert.equal(ticket.clickId, "c");
  assert.equal(ticket.take(5_001), "s");
  const [request] = requests;
  assert.equal(request?.method, "POST");
  assert.equal(request?.headers.get("content-type"), "application/json");
  assert.deepEqual(await request?.json(), {
    input: { basket: 1 },
  });
});

Deno.test("fetchSession() says how the endpoint refused", async () => {
  for (const status of [401, 403, 404, 422, 502]) {
    const { fetch } = answering('{"error":"no"}', { status });
    await assert.rejects(fetchSession(url, { fetch }), {
      name: "SessionError",
      code: "refused",
      status,
    });
  }
});

Deno.test("fetchSession() refuses an answer without a session", async () => {
  const bodies = ["", "<html>", "null", "[]", "{}", '{"sessionId":"s"}'];
  for (const body of [...bodies, '{"session_id":""}', '{"session_id":5}']) {
    const { fetch } = answering(body);
    await assert.rejects(fetchSession(url, { fetch }), { code: "bad_answer" });
  }
});

Deno.test("fetchSession() tells an unreachable endpoint from an abort", async () => {
  const failing: typeof fetch = () => Promise.reject(new TypeError("down"));
  await assert.rejects(fetchSession(url, { fetch: failing }), {
    code: "network",
    status: null,
  });
  const signal = AbortSignal.abort(new DOMException("stop", "AbortError"));
  await assert.rejects(fetchSession(url, { fetch: failing, signal }), {
    name: "AbortError",
  });
});
