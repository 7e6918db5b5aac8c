import assert from "node:assert/strict";
import fc from "fast-check";
import { OnrampClient, type OnrampClientOptions } from "./client.ts";
import { OnrampError } from "./errors.ts";
import {
  answers,
  calls,
  type Handler,
  inject,
  operations,
  serve,
} from "./service_test.ts";
import { until } from "../tests/kit/until.ts";

/** A clock that moves only when somebody sleeps. */
function virtualTime() {
  let now = Date.UTC(2026, 0, 1);
  const sleeps: number[] = [];
  return {
    sleeps,
    advance: (ms: number) => now += ms,
    options: {
      now: () => now,
      sleep: (ms: number, signal?: AbortSignal) => {
        signal?.throwIfAborted();
        sleeps.push(ms);
        now += ms;
        return Promise.resolve();
      },
      random: () => 0.5,
      retries: 3,
    },
  };
}

/** Fails a number of times, then answers well. */
function failing(times: number, fail: () => Response): Handler {
  return (request, count) => {
    if (count <= times) return fail();
    const path = new URL(request.url).pathname;
    const operation = path.includes("hpp")
      ? "sessions.create"
      : path.endsWith("create")
      ? "users.create"
      : path.includes("register")
      ? "cards.register"
      : path.endsWith("orders")
      ? "orders.page"
      : "users.page";
    return new Response(answers[operation]);
  };
}

const unavailable = () => new Response("", { status: 503 });

for (
  const operation of operations.filter((name) => name !== "cards.register")
) {
  Deno.test(`${operation}() is tried again with jitter under a doubling ceiling`, async () => {
    const time = virtualTime();
    const { client, requests } = inject(failing(3, unavailable), time.options);
    await calls[operation](client);
    assert.equal(requests.length, 4);
    assert.deepEqual(time.sleeps, [250, 500, 1000]);
  });
}

Deno.test("cards.register() is never sent twice, whatever happens", async () => {
  for (
    const fail of [
      unavailable,
      () => new Response("", { status: 429, headers: { "retry-after": "1" } }),
      () => new Response("", { status: 500 }),
      () => {
        throw new TypeError("connection reset");
      },
    ]
  ) {
    const time = virtualTime();
    const { client, requests } = inject(failing(9, fail), time.options);
    await assert.rejects(calls["cards.register"](client), OnrampError);
    assert.equal(requests.length, 1);
    assert.deepEqual(time.sleeps, []);
  }
});

Deno.test("OnrampClient throws the last error after the last retry", async () => {
  const time = virtualTime();
  const { client, requests } = inject(failing(99, unavailable), time.options);
  await assert.rejects(client.orders.page(), {
    name: "ServiceError",
    status: 503,
  });
  assert.equal(requests.length, 4);
});

Deno.test("OnrampClient does not retry errors that waiting cannot cure", async () => {
  for (
    const respond of [
      () => new Response("", { status: 400 }),
      () => new Response("", { status: 401 }),
      () => new Response("", { status: 404 }),
      () => new Response("<html>"),
      () => Response.json({ success: false }),
      () => new Response(null, { status: 302, headers: { location: "/x" } }),
    ]
  ) {
    const time = virtualTime();
    const { client, requests } = inject(respond, time.options);
    await assert.rejects(client.orders.page(), { retryable: false });
    assert.equal(requests.length, 1);
  }
});

Deno.test("OnrampClient retries reads after network failures", async () => {
  const time = virtualTime();
  const { client, requests } = inject((_request, count) => {
    if (count === 1) throw new TypeError("connection reset");
    return new Response(answers["users.page"]);
  }, time.options);
  await client.users.page();
  assert.equal(requests.length, 2);
});

Deno.test("users.create() after a lost answer ends in the conflict that names the user", async () => {
  const time = virtualTime();
  const { client, requests } = inject((_request, count) => {
    if (count === 1) throw new TypeError("connection reset");
    return Response.json({ message: "exists", user_id: "U", created_at: "T" }, {
      status: 409,
    });
  }, time.options);
  await assert.rejects(calls["users.create"](client), {
    name: "ConflictError",
    userId: "U",
  });
  assert.equal(requests.length, 2);
});

for (
  const [form, header] of [
    ["seconds", "5"],
    ["a date", "Thu, 01 Jan 2026 00:00:05 GMT"],
  ] as const
) {
  Deno.test(`Retry-After in ${form} is honoured, by every call of the client`, async () => {
    const time = virtualTime();
    const { client } = inject(
      failing(
        1,
        () =>
          new Response("", { status: 429, headers: { "retry-after": header } }),
      ),
      time.options,
    );
    await client.orders.page();
    assert.deepEqual(time.sleeps, [5000]);
  });
}

Deno.test("OnrampClient holds back all calls during a Retry-After pause", async () => {
  const time = virtualTime();
  const { client } = inject(
    failing(
      1,
      () => new Response("", { status: 503, headers: { "retry-after": "9" } }),
    ),
    { ...time.options, retries: 0 },
  );
  await assert.rejects(client.orders.page(), {
    name: "ServiceError",
    retryAfterMs: 9000,
  });
  await client.users.page();
  assert.deepEqual(time.sleeps, [9000]);
});

Deno.test("OnrampClient throws at once when a wait would pass the deadline", async () => {
  const time = virtualTime();
  const { client, requests } = inject(
    failing(
      9,
      () => new Response("", { status: 429, headers: { "retry-after": "60" } }),
    ),
    time.options,
  );
  await assert.rejects(client.orders.page(), {
    name: "RateLimitError",
    retryAfterMs: 60_000,
  });
  assert.equal(requests.length, 1);
  assert.deepEqual(time.sleeps, []);
});

Deno.test("OnrampClient applies one deadline to all attempts and waits", async () => {
  const time = virtualTime();
  const { client, requests } = inject(() => {
    time.advance(4_000);
    return new Response("", { status: 500 });
  }, { ...time.options, retries: 99, deadlineMs: 10_000 });
  const started = time.options.now();
  await assert.rejects(client.orders.page(), { name: "ServiceError" });
  assert.equal(requests.length, 3);
  assert.ok(time.options.now() - started <= 13_000);
});

Deno.test("OnrampClient retries a slow attempt, and ends within the deadline", async () => {
  const hang = (_request: Request, count: number) =>
    count === 1
      ? new Promise<Response>(() => {})
      : new Response(answers["orders.page"]);
  const { client, requests } = inject(hang, {
    // The second attempt has to be answered within this.
    timeoutMs: 300,
    retries: 1,
    random: () => 0,
  });
  await client.orders.page();
  assert.equal(requests.length, 2);
  const other = inject(() => new Promise<Response>(() => {}), {
    timeoutMs: 20,
    retries: 1,
    random: () => 0,
  });
  await assert.rejects(other.client.orders.page(), {
    name: "TimeoutError",
    code: "timeout",
  });
});

Deno.test("OnrampClient ends a call with the caller's reason when aborted before, during or between attempts", async () => {
  const reason = new Error("user left");
  for (const operation of operations) {
    const { client, requests } = inject(() => new Promise<Response>(() => {}));
    await assert.rejects(
      calls[operation](client, AbortSignal.abort(reason)),
      reason,
    );
    assert.equal(requests.length, 0);

    const during = new AbortController();
    const pending = calls[operation](client, during.signal);
    await until(() => requests.length > 0);
    during.abort(reason);
    await assert.rejects(pending, reason);
    assert.equal(requests.length, 1);
  }
  const waiting = new AbortController();
  const { client, requests } = inject(
    () => new Response("", { status: 503, headers: { "retry-after": "20" } }),
    { retries: 3, deadlineMs: 600_000 },
  );
  setTimeout(() => waiting.abort(reason), 30);
  const started = performance.now();
  await assert.rejects(
    client.orders.page({}, { signal: waiting.signal }),
    reason,
  );
  assert.equal(requests.length, 1);
  assert.ok(performance.now() - started < 19_000, "it waited for the retry");
});

Deno.test("OnrampClient stops reading a real server's body when aborted", async () => {
  const reason = new Error("enough");
  await using service = serve(() =>
    new Response(
      new ReadableStream({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode("{")),
      }),
    )
  );
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 50);
  await assert.rejects(
    service.client.orders.page({}, { signal: controller.signal }),
    reason,
  );
});

/** Starts of requests on a virtual clock whose sleeps run in order of time. */
async function startsOf(
  count: number,
  options: Partial<OnrampClientOptions>,
): Promise<number[]> {
  const time = virtualTime();
  const first = time.options.now();
  const starts: number[] = [];
  const { client } = inject(() => {
    starts.push(time.options.now() - first);
    return new Response(answers["orders.page"]);
  }, {
    ...time.options,
    // Whoever may start now does so before time moves on.
    sleep: async (ms) => {
      await new Promise((resolve) => setTimeout(resolve));
      await time.options.sleep(ms);
    },
    deadlineMs: 1e9,
    ...options,
  });
  await Promise.all(Array.from({ length: count }, () => client.orders.page()));
  return starts;
}

Deno.test("OnrampClient sends one request per 250 ms over all calls by default", async () => {
  assert.deepEqual(
    await startsOf(5, { requestsPerSecond: 4 }),
    [0, 250, 500, 750, 1000],
  );
  const { client } = inject(() => new Response(answers["orders.page"]));
  assert.ok(client);
});

Deno.test("OnrampClient keeps the rate for any number of calls and any setting", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 50 }),
      async (count, requestsPerSecond) => {
        const starts = await startsOf(count, { requestsPerSecond });
        assert.equal(starts.length, count);
        for (const [at, start] of starts.entries()) {
          const before = starts[at - 1];
          if (before === undefined) continue;
          assert.ok(start - before >= 1000 / requestsPerSecond - 0.01);
        }
      },
    ),
    { numRuns: 20 },
  );
});

Deno.test("OnrampClient limits concurrent requests, and frees the place of an abandoned wait", async () => {
  let inFlight = 0;
  let most = 0;
  const { client, requests } = inject(async () => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inFlight--;
    return new Response(answers["orders.page"]);
  }, { maxInFlight: 2 });
  const gone = new AbortController();
  const all = Array.from(
    { length: 12 },
    (_, at) =>
      client.orders.page({}, at % 3 === 2 ? { signal: gone.signal } : {}),
  );
  gone.abort(new Error("gone"));
  const settled = await Promise.allSettled(all);
  assert.equal(most, 2);
  assert.equal(settled.filter((one) => one.status === "fulfilled").length, 8);
  assert.equal(requests.length, 8);
});

Deno.test("OnrampClient throws at once when its turn would come after the deadline", async () => {
  const time = virtualTime();
  const { client, requests } = inject(
    () => new Response(answers["orders.page"]),
    {
      ...time.options,
      requestsPerSecond: 0.1,
      deadlineMs: 5_000,
    },
  );
  await client.orders.page();
  await assert.rejects(client.orders.page(), {
    name: "TimeoutError",
    code: "deadline",
  });
  assert.equal(requests.length, 1);
  assert.deepEqual(time.sleeps, []);
});

Deno.test("OnrampClient does not delay calls when the clock is set back by hours", async () => {
  let nowMs = Date.UTC(2026, 10, 20);
  const slept: number[] = [];
  const client = new OnrampClient({
    environment: "sandbox",
    apiKey: "key",
    fetch: () => Promise.resolve(Response.json({ success: true, data: [] })),
    now: () => nowMs,
    sleep: (ms) => {
      slept.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  });
  await client.orders.page();
  nowMs -= 6 * 3_600_000;
  await client.orders.page();
  await client.orders.page();
  assert.ok(slept.every((ms) => ms <= 250), `it slept ${slept.join(", ")} ms`);
});
