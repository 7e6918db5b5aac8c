import assert from "node:assert/strict";
import {
  type Span,
  type SpanOptions,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import type { RequestInfo, ResponseInfo } from "./call_options.ts";
import {
  answers,
  apiKey,
  calls,
  cardNumber,
  inject,
  operations,
  user,
} from "../endpoints/service_test.ts";

interface Recorded {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
  status: unknown;
  ended: boolean;
}

/** Records spans as an exporter would see them. */
async function traced(run: () => Promise<unknown>): Promise<Recorded[]> {
  const spans: Recorded[] = [];
  const start = (name: string, options: SpanOptions = {}): Span => {
    const recorded: Recorded = {
      name,
      attributes: { ...options.attributes },
      status: null,
      ended: false,
    };
    spans.push(recorded);
    const span: Partial<Span> = {
      setAttribute: (key, value) => {
        recorded.attributes[key] = value;
        return span as Span;
      },
      setStatus: (status) => {
        recorded.status = status;
        return span as Span;
      },
      end: () => {
        recorded.ended = true;
      },
    };
    return span as Span;
  };
  const tracer: Partial<Tracer> = {
    startActiveSpan: (name: string, ...rest: unknown[]) => {
      const work = rest.at(-1) as (span: Span) => never;
      return work(start(name, rest[0] as SpanOptions));
    },
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as Tracer });
  try {
    await run();
  } finally {
    trace.disable();
  }
  return spans;
}

for (const operation of operations) {
  Deno.test(`${operation}() is one span with method, host and status, and nothing private`, async () => {
    const { client } = inject(() => new Response(answers[operation]));
    const spans = await traced(() => calls[operation](client));
    assert.deepEqual(spans, [{
      name: `onramp ${operation}`,
      attributes: {
        "http.request.method": operation.endsWith("page") ? "GET" : "POST",
        "server.address": "service.test",
        "http.response.status_code": 200,
      },
      status: null,
      ended: true,
    }]);
    const text = JSON.stringify(spans);
    for (const secret of [apiKey, cardNumber, user.phone, user.email]) {
      assert.ok(!text.includes(secret));
    }
  });
}

Deno.test("OnrampClient records the error's name and the number of retries in the span", async () => {
  const { client } = inject(
    () => new Response("", { status: 503 }),
    { retries: 2, random: () => 0 },
  );
  const spans = await traced(() =>
    client.orders.page({ search_by: "person@example.com" }).catch(() => {})
  );
  assert.equal(spans.length, 1);
  assert.deepEqual(spans[0]?.attributes, {
    "http.request.method": "GET",
    "server.address": "service.test",
    "http.response.status_code": 503,
    "http.request.resend_count": 2,
    "error.type": "ServiceError",
  });
  assert.equal(spans[0]?.ended, true);
});

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
