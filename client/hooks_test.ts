import assert from "node:assert/strict";
import type { RequestInfo, ResponseInfo } from "./call_options.ts";
import { answers, calls, inject, operations } from "./service_test.ts";

Deno.test("OnrampClient calls hooks for each attempt, with bodies only on request and never for cards", async () => {
  for (const hookBodies of [false, true]) {
    for (const operation of operations) {
      const requests: RequestInfo[] = [];
      const responses: ResponseInfo[] = [];
      const { client } = inject(() => new Response(answers[operation]), {
        hookBodies,
        onRequest: (info) => requests.push(info),
        onResponse: (info) => responses.push(info),
      });
      await calls[operation](client);
      const shown = hookBodies && operation !== "cards.register";
      const isPost = !operation.endsWith("page");
      assert.equal(requests.length, 1);
      assert.equal(requests[0]?.operation, operation);
      assert.equal(requests[0]?.body !== null, shown && isPost);
      assert.deepEqual(
        { ...responses[0], durationMs: 0 },
        {
          operation,
          method: isPost ? "POST" : "GET",
          url: requests[0]?.url,
          attempt: 1,
          status: 200,
          durationMs: 0,
          error: null,
          body: shown ? answers[operation] : null,
        },
      );
    }
  }
});

Deno.test("OnrampClient calls hooks for failures and retries, and ignores a hook that throws", async () => {
  const responses: ResponseInfo[] = [];
  const { client } = inject((_request, count) => {
    if (count === 1) throw new TypeError("reset");
    return new Response(answers["orders.page"]);
  }, {
    retries: 1,
    random: () => 0,
    onRequest: () => {
      throw new Error("hook");
    },
    onResponse: (info) => {
      responses.push(info);
      return Promise.reject(new Error("hook"));
    },
  });
  await client.orders.page();
  assert.deepEqual(
    responses.map(({ attempt, status, error }) => [attempt, status, error]),
    [[1, null, "NetworkError"], [2, 200, null]],
  );
});
