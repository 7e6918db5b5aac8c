import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers";
import { decodeTime, isValid } from "ulid";
import {
  type Delivery,
  type UnansweredDelivery,
  type WebhookEndpoint,
  webhookEndpoint,
  type WebhookEndpointOptions,
  type WebhookLogEntry,
} from "./mod.ts";
import { until } from "../tests/kit/until.ts";

const SECRET = "secret-0123456789abcdef0123456789";
const OLD_SECRET = "old-secret-0123456789abcdef";
const LOGIN = `{"type":"login","click_id":"c-1"}`;

/** A ledger to append to, which takes an id once, and fails on demand. */
class TestLedger {
  readonly stored = new Map<string, Delivery>();
  appends = 0;
  /** Decides the fate of the n-th append. */
  fate: (n: number) => "store" | "fail" | "hang" = () => "store";
  readonly #hanging: (() => void)[] = [];

  readonly append = async (delivery: Delivery): Promise<void> => {
    const fate = this.fate(this.appends++);
    if (fate === "fail") throw new Error(`Database is locked, ${SECRET}`);
    if (fate === "hang") {
      await new Promise<void>((resolve) => this.#hanging.push(resolve));
    }
    if (!this.stored.has(delivery.id)) this.stored.set(delivery.id, delivery);
  };

  /** Lets every hanging append come to its end. */
  release(): void {
    this.fate = (): "store" => "store";
    for (const resume of this.#hanging.splice(0)) resume();
  }

  get bodies(): string[] {
    return [...this.stored.values()].map(({ body }) =>
      new TextDecoder().decode(body)
    );
  }
}

interface Served {
  readonly base: string;
  readonly url: string;
  readonly endpoint: WebhookEndpoint;
  readonly ledger: TestLedger;
  readonly log: WebhookLogEntry[];
}

/** Serves an endpoint over HTTP for as long as `work` takes. */
async function served(
  options: Partial<WebhookEndpointOptions>,
  work: (served: Served) => Promise<void>,
): Promise<void> {
  const ledger = new TestLedger();
  const log: WebhookLogEntry[] = [];
  const endpoint = webhookEndpoint({
    append: ledger.append,
    secrets: [SECRET],
    log: (entry) => log.push(entry),
    ...options,
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    endpoint,
  );
  const base = `http://127.0.0.1:${server.addr.port}`;
  const url = `${base}/webhooks/${SECRET}`;
  try {
    await work({ base, url, endpoint, ledger, log });
  } finally {
    ledger.release();
    await server.shutdown();
    await endpoint.drain();
  }
}

async function post(url: string, body: BodyInit | null): Promise<Response> {
  const response = await fetch(url, { method: "POST", body });
  assert.equal(await response.text(), "");
  return response;
}

Deno.test("webhookEndpoint() answers 204 to any JSON object, once its exact bytes are stored", () =>
  served({}, async ({ url, ledger }) => {
    const bodies = [
      LOGIN,
      `{}`,
      ` {"type": "order_complete" , "order":{"id":""}}\r\n`,
      `{"type":"coffee_brewed","a":1e999,"a":2,"__proto__":{"x":1}}`,
      `{"type":"login","lone":"\\ud800"}`,
      `{"type":"test","click_id":"test_click_id","order":{"id":""}}`,
    ];
    for (const body of bodies) {
      assert.equal((await post(url, body)).status, 204);
      assert.equal(ledger.bodies.at(-1), body);
    }
  }));

Deno.test("webhookEndpoint() answers 204 only after append has resolved", () =>
  served({}, async ({ url, ledger }) => {
    ledger.fate = (): "hang" => "hang";
    let answered = false;
    const answer = post(url, LOGIN).then(({ status }) => {
      answered = true;
      return status;
    });
    await until(() => ledger.appends === 1);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert(!answered);
    ledger.release();
    assert.equal(await answer, 204);
  }));

Deno.test("webhookEndpoint() answers 204 to what is not a JSON object, and stores it", () =>
  served({}, async ({ url, ledger }) => {
    const bodies = [
      "",
      "not JSON",
      "[]",
      "null",
      `"text"`,
      "7",
      "\u0000",
      `{"a"`,
    ];
    for (const body of bodies) {
      assert.equal((await post(url, body)).status, 204);
    }
    const bytes = Uint8Array.of(0xff, 0xfe, 0x00, 0x80);
    assert.equal((await post(url, bytes)).status, 204);
    assert.equal((await post(url, null)).status, 204);
    assert.deepEqual(ledger.bodies.slice(0, bodies.length), bodies);
    assert.deepEqual([...ledger.stored.values()].at(-2)?.body, bytes);
  }));

Deno.test("webhookEndpoint() answers 404 without a valid secret, whatever the method", () =>
  served({ path: "/webhooks/" }, async ({ base, ledger }) => {
    for (
      const path of [
        "/",
        "/webhooks",
        "/webhooks/",
        "/webhooks/wrong",
        `/webhooks/${SECRET}x`,
        `/webhooks/${SECRET}//`,
        `/webhooks//${SECRET}`,
        `/${SECRET}`,
        `/webhooks/?${SECRET}`,
      ]
    ) {
      for (const method of ["POST", "GET", "OPTIONS"]) {
        const response = await fetch(base + path, { method });
        await response.body?.cancel();
        assert.equal(response.status, 404, `${method} ${path}`);
      }
    }
    assert.equal(ledger.appends, 0);
  }));

Deno.test("webhookEndpoint() answers 405 to another method than POST", () =>
  served({}, async ({ url, ledger }) => {
    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await fetch(url, { method });
      await response.body?.cancel();
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get("allow"), "POST");
    }
    assert.equal(ledger.appends, 0);
  }));

Deno.test("webhookEndpoint() answers 413 over the limit, of stated and of unstated length", () =>
  served({ maxBodyBytes: 1_000 }, async ({ url, ledger, log, endpoint }) => {
    const streamed = (bytes: number): ReadableStream<Uint8Array> =>
      ReadableStream.from(
        Array.from({ length: bytes / 100 }, () => new Uint8Array(100).fill(32)),
      );
    assert.equal((await post(url, " ".repeat(1_000))).status, 204);
    assert.equal((await post(url, " ".repeat(1_001))).status, 413);
    assert.equal((await post(url, streamed(1_000))).status, 204);
    assert.equal((await post(url, streamed(1_100))).status, 413);
    assert.equal(ledger.appends, 2);
    const alerts = log.filter(({ code }) => code === "body_refused");
    assert.deepEqual(alerts.map(({ level }) => level), ["error", "error"]);
    assert.deepEqual(endpoint.stats().refused, { too_large: 2 });
  }));

Deno.test("webhookEndpoint() takes several secrets at once", () =>
  served({ secrets: [SECRET, OLD_SECRET] }, async ({ base }) => {
    for (const secret of [SECRET, OLD_SECRET]) {
      const { status } = await post(`${base}/webhooks/${secret}`, LOGIN);
      assert.equal(status, 204);
    }
  }));

Deno.test("webhookEndpoint() mounts at its path", () =>
  served({ path: "/hooks/onramp/" }, async ({ base }) => {
    assert.equal(
      (await post(`${base}/hooks/onramp/${SECRET}`, LOGIN)).status,
      204,
    );
    assert.equal((await post(`${base}/webhooks/${SECRET}`, LOGIN)).status, 404);
  }));

Deno.test("webhookEndpoint() answers 404 to an address that is not on the allowlist", async () => {
  await served({ allowlist: ["127.0.0.0/8"] }, async ({ url }) => {
    assert.equal((await post(url, LOGIN)).status, 204);
  });
  await served({ allowlist: ["192.0.2.1"] }, async ({ url, ledger }) => {
    assert.equal((await post(url, LOGIN)).status, 404);
    assert.equal(ledger.appends, 0);
  });
});

Deno.test("webhookEndpoint() uses clientAddress behind a proxy", () =>
  served({
    allowlist: ["192.0.2.1"],
    clientAddress: (request) => request.headers.get("x-real-ip"),
  }, async ({ url }) => {
    const from = async (ip: string): Promise<number> => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "x-real-ip": ip },
        body: LOGIN,
      });
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await from("192.0.2.1"), 204);
    assert.equal(await from("192.0.2.2"), 404);
    assert.equal((await post(url, LOGIN)).status, 404);
  }));

Deno.test("webhookEndpoint() answers 503 with Retry-After when the ledger fails ", () =>
  served({}, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "fail" => "fail";
    const response = await post(url, LOGIN);
    assert.equal(response.status, 503);
    assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
    assert.equal(endpoint.stats().appending, false);
    ledger.fate = (): "store" => "store";
    assert.equal((await post(url, LOGIN)).status, 204);
    assert.equal(endpoint.stats().appending, true);
  }));

Deno.test("webhookEndpoint() tries a failed append once more before it answers 503", () =>
  served({}, async ({ url, ledger }) => {
    ledger.fate = (n): "fail" | "store" => n === 0 ? "fail" : "store";
    assert.equal((await post(url, LOGIN)).status, 204);
    assert.equal(ledger.stored.size, 1);
  }));

Deno.test("webhookEndpoint() answers 503 to a hanging ledger in time, and says later that it was unanswered", async () => {
  const unanswered: UnansweredDelivery[] = [];
  await served({
    deadlineMs: 150,
    unanswered: (one) => {
      unanswered.push(one);
      return Promise.resolve();
    },
  }, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "hang" => "hang";
    const startedAt = performance.now();
    assert.equal((await post(url, LOGIN)).status, 503);
    assert(performance.now() - startedAt < 30_000);
    assert.equal(unanswered.length, 0);
    assert.equal(endpoint.stats().unansweredNotes, 1);
    ledger.release();
    await until(() => unanswered.length === 1);
    assert.equal(unanswered[0]?.id, [...ledger.stored.keys()][0]);
    assert.equal(unanswered[0]?.answer, "503");
    assert.match(unanswered[0]?.noticedAt ?? "", /^\d{4}-.*\.\d{3}Z$/);
    assert.equal(endpoint.stats().unansweredNotes, 0);
  });
});

Deno.test("webhookEndpoint() keeps notes of unanswered deliveries until they are taken", async () => {
  const unanswered: UnansweredDelivery[] = [];
  let refusals = 0;
  await served({
    unanswered: (one) => {
      if (refusals++ < 2) return Promise.reject(new Error("Not now"));
      unanswered.push(one);
      return Promise.resolve();
    },
  }, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "fail" => "fail";
    for (let n = 0; n < 3; n++) await post(url, LOGIN);
    assert.equal(endpoint.stats().unansweredNotes, 3);
    ledger.fate = (): "store" => "store";
    for (let n = 0; n < 3; n++) await post(url, LOGIN);
    await until(() => unanswered.length === 3);
    assert.equal(new Set(unanswered.map(({ id }) => id)).size, 3);
  });
});

Deno.test("webhookEndpoint() hands notes over when no further delivery comes", async () => {
  let time = 0;
  const pass = async (ms: number): Promise<void> => {
    for (const end = time + ms; time < end; time += 50) {
      mock.timers.tick(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const told: string[] = [];
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const endpoint = webhookEndpoint({
      secrets: [SECRET],
      clock: () => time,
      append: () => Promise.reject(new Error("The disk is full")),
      unanswered: ({ id }) => {
        if (time < 20_000) return Promise.reject(new Error("Not now"));
        told.push(id);
        return Promise.resolve();
      },
    });
    const url = `http://localhost/webhooks/${SECRET}`;
    const answer = endpoint(new Request(url, { method: "POST", body: LOGIN }));
    await pass(1_000);
    assert.equal((await answer).status, 503);
    await pass(15_000);
    assert.equal(endpoint.stats().unansweredNotes, 1);
    await pass(15_000);
    assert.equal(endpoint.stats().unansweredNotes, 0);
    assert.equal(told.length, 1);
    await endpoint.drain();
  } finally {
    mock.timers.reset();
  }
});

Deno.test("webhookEndpoint() notes an answer that came too late for the sender", async () => {
  let time = 0;
  const unanswered: UnansweredDelivery[] = [];
  const endpoint = webhookEndpoint({
    secrets: [SECRET],
    clock: () => time,
    append: () => {
      time += 5_001;
      return Promise.resolve();
    },
    unanswered: (one) => {
      unanswered.push(one);
      return Promise.resolve();
    },
  });
  const url = `http://localhost/webhooks/${SECRET}`;
  const { status } = await endpoint(
    new Request(url, { method: "POST", body: LOGIN }),
  );
  assert.equal(status, 204);
  await endpoint.drain();
  assert.deepEqual(unanswered.map(({ answer }) => answer), ["late"]);
});

Deno.test("webhookEndpoint() with a ledger failing at the n-th write keeps every 204, once, for every n", async () => {
  const requests = 4;
  for (let n = 0; n <= requests; n++) {
    await served({}, async ({ url, ledger, endpoint }) => {
      ledger.fate = (append): "fail" | "store" =>
        append === n ? "fail" : "store";
      const kept: string[] = [];
      for (let index = 0; index < requests; index++) {
        const body = `{"n":${index}}`;
        if ((await post(url, body)).status === 204) kept.push(body);
      }
      assert.equal(kept.length, requests);
      await endpoint.drain();
      assert.deepEqual(ledger.bodies.toSorted(), kept);
    });
  }
});

Deno.test("webhookEndpoint() answers 503 when append or newId throws", async () => {
  const thrower = (): never => {
    throw new Error("Thrown");
  };
  for (const options of [{ append: thrower }, { newId: thrower }]) {
    await served(options, async ({ url, endpoint }) => {
      assert.equal((await post(url, LOGIN)).status, 503);
      assert.equal(endpoint.stats().inFlight, 0);
      assert.equal(endpoint.stats().heldBytes, 0);
    });
  }
});

Deno.test("webhookEndpoint() answers a request whose body is gone or taken", async () => {
  const endpoint = webhookEndpoint({
    append: () => Promise.resolve(),
    secrets: [SECRET],
  });
  const url = `http://localhost/webhooks/${SECRET}`;
  for (const headers of [{}, { "content-length": "2" }]) {
    const used = new Request(url, { method: "POST", headers, body: "{}" });
    await used.text();
    const { status } = await endpoint(used);
    assert(status === 400 || status === 503, `${status}`);
    assert.equal(endpoint.stats().inFlight, 0);
  }
  await endpoint.drain();
});

Deno.test("webhookEndpoint() answers 503 rather than hold more bytes than it may", () =>
  served({ maxHeldBytes: 100 }, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "hang" => "hang";
    const held = post(url, " ".repeat(80));
    await until(() => ledger.appends === 1);
    assert.equal(endpoint.stats().heldBytes, 80);
    assert.equal((await post(url, " ".repeat(21))).status, 503);
    const small = post(url, " ".repeat(20));
    await until(() => ledger.appends === 2);
    ledger.release();
    assert.equal((await held).status, 204);
    assert.equal((await small).status, 204);
    assert.equal(endpoint.stats().heldBytes, 0);
  }));

Deno.test("webhookEndpoint() gives each delivery a ULID greater than the one before, also where the clock goes back", () => {
  const timesMs = [5_000, 5_000, 4_999, 2 ** 33 + 7];
  let at = 0;
  return served({ now: () => timesMs[at] ?? 0 }, async ({ url, ledger }) => {
    for (; at < timesMs.length; at++) await post(url, LOGIN);
    const ids = [...ledger.stored.keys()];
    assert.deepEqual(ids, [...new Set(ids)].toSorted());
    assert.deepEqual(ids.map((id) => isValid(id) && decodeTime(id)), [
      ...[5_000, 5_000, 5_000, 2 ** 33 + 7],
    ]);
    assert.deepEqual(
      [...ledger.stored.values()].map(({ receivedAt }) =>
        Date.parse(receivedAt)
      ),
      timesMs,
    );
  });
});

Deno.test("webhookEndpoint() stores an id, a time and the body, and no header", () => {
  let id = 0;
  return served({
    now: () => Date.UTC(2026, 10, 20, 12),
    newId: (ms) => `${ms}-${id++}`,
  }, async ({ url, ledger }) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: "Bearer b",
        cookie: "c=d",
        "content-type": "text/plain",
      },
      body: LOGIN,
    });
    await response.body?.cancel();
    await post(url, LOGIN);
    const deliveries = [...ledger.stored.values()];
    assert.deepEqual(Object.keys(deliveries[0] ?? {}), [
      "id",
      "receivedAt",
      "body",
    ]);
    assert.deepEqual(
      deliveries.map(({ id, receivedAt }) => [id, receivedAt]),
      [0, 1].map((n) => [
        `${Date.UTC(2026, 10, 20, 12)}-${n}`,
        "2026-11-20T12:00:00.000Z",
      ]),
    );
  });
});

Deno.test("webhookEndpoint() mints ids that are unique and ascend", () =>
  served({}, async ({ url, ledger }) => {
    await Promise.all(Array.from({ length: 50 }, () => post(url, LOGIN)));
    const ids = [...ledger.stored.keys()];
    assert.equal(ids.length, 50);
    assert.deepEqual(ids, ids.toSorted());
    for (const id of ids) assert.match(id, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  }));

Deno.test("webhookEndpoint() logs what is not in order without a secret, a header or a body", () => {
  let passedMs = 0;
  return served(
    {
      secrets: [SECRET, "weak"],
      maxBodyBytes: 500,
      clock: () => performance.now() + passedMs,
    },
    async ({ url, ledger, log }) => {
      const name = "Mary Poppins";
      const send = async (body: string): Promise<void> => {
        const response = await fetch(
          `${url}?who=${encodeURIComponent(name)}`,
          {
            method: "POST",
            headers: { authorization: `Bearer ${name}`, cookie: name },
            body,
          },
        );
        await response.body?.cancel();
      };
      await send(`{"type":"login","name":"${name}"}`);
      await send(`{"type":"coffee_brewed","name":"${name}"}`);
      await send(`{"name":"${name}`);
      await send(name.repeat(100));
      ledger.fate = (): "fail" => "fail";
      await send(`{"type":"login","name":"${name}"}`);
      ledger.fate = (): "store" => "store";
      passedMs += 60_000;
      await send(`{"type":"login","name":"${name}"}`);
      const codes = new Set(log.map(({ code }) => code));
      for (
        const code of [
          "weak_secret",
          "body_refused",
          "append_failing",
          "append_recovered",
          "delivery_refused",
        ] as const
      ) {
        assert(codes.has(code), code);
      }
      const text = JSON.stringify(log);
      for (
        const secret of [SECRET, 'weak"', name, encodeURIComponent(name)]
      ) {
        assert(!text.includes(secret), secret);
      }
      assert(
        text.includes("{secret}"),
        "the ledger's error names the secret",
      );
    },
  );
});

Deno.test("webhookEndpoint() logs once that deliveries cannot be stored, however often some are meanwhile", () => {
  let passedMs = 0;
  return served(
    { clock: () => performance.now() + passedMs },
    async ({ url, ledger, log }) => {
      const alarms = () =>
        log.map(({ code }) => code).filter((code) => code.startsWith("append"));
      for (let n = 0; n < 20; n++) {
        ledger.fate = () => n % 2 === 0 ? "fail" : "store";
        await post(url, LOGIN);
        passedMs += 29_000;
      }
      assert.deepEqual(alarms(), ["append_failing"]);
      passedMs += 31_000;
      await post(url, LOGIN);
      await post(url, LOGIN);
      assert.deepEqual(alarms(), ["append_failing", "append_recovered"]);
    },
  );
});

Deno.test("webhookEndpoint() survives a log that throws", () =>
  served({
    log: () => {
      throw new Error("Log is full");
    },
  }, async ({ url, ledger }) => {
    ledger.fate = (): "fail" => "fail";
    assert.equal((await post(url, LOGIN)).status, 503);
    ledger.fate = (): "store" => "store";
    assert.equal((await post(url, LOGIN)).status, 204);
  }));

Deno.test("webhookEndpoint() shows no secret when it is inspected or turned into JSON", () => {
  const endpoint = webhookEndpoint({
    append: () => Promise.resolve(),
    secrets: [SECRET],
  });
  const shown = Deno.inspect(endpoint, { depth: 9, showHidden: true }) +
    JSON.stringify(endpoint) + String(endpoint) +
    JSON.stringify(endpoint.stats());
  assert(!shown.includes(SECRET));
});

Deno.test("webhookEndpoint() counts its answers", () =>
  served({}, async ({ url, base, endpoint }) => {
    await post(url, LOGIN);
    await post(url, "x");
    await post(base, LOGIN);
    const stats = endpoint.stats();
    assert.deepEqual(stats.answers, { "204": 2, "404": 1 });
    assert.equal(stats.inFlight, 0);
  }));

Deno.test("webhookEndpoint() tells of each answer, and survives whom it tells", async () => {
  const told: string[] = [];
  const onAnswer: WebhookEndpointOptions["onAnswer"] = (answered) => {
    const { delivery, status, refusal, durationMs } = answered;
    assert(durationMs >= 0);
    const body = delivery && new TextDecoder().decode(delivery.body);
    told.push([status, refusal, body].join(" "));
    throw new Error("The observer fails");
  };
  await served({ onAnswer, maxBodyBytes: 64 }, async (world) => {
    const { url, base, ledger } = world;
    assert.equal((await post(url, LOGIN)).status, 204);
    assert.equal((await post(base, LOGIN)).status, 404);
    assert.equal((await post(url, " ".repeat(65))).status, 413);
    ledger.fate = (): "fail" => "fail";
    assert.equal((await post(url, LOGIN)).status, 503);
  });
  assert.deepEqual(told, [
    `204  ${LOGIN}`,
    "404 wrong_secret ",
    "413 too_large ",
    `503  ${LOGIN}`,
  ]);
});

Deno.test("drain() lets requests in flight finish", () =>
  served({}, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "hang" => "hang";
    const answer = post(url, LOGIN);
    await until(() => endpoint.stats().inFlight === 1);
    let drained = false;
    const draining = endpoint.drain().then(() => drained = true);
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert(!drained);
    ledger.release();
    assert.equal((await answer).status, 204);
    await draining;
    assert.equal(ledger.stored.size, 1);
  }));

Deno.test("drain() does not wait for ever", () =>
  served({ deadlineMs: 60_000 }, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "hang" => "hang";
    const answer = post(url, LOGIN);
    await until(() => ledger.appends === 1);
    const startedAt = performance.now();
    await endpoint.drain({ timeoutMs: 50 });
    assert(performance.now() - startedAt < 30_000);
    ledger.release();
    assert.equal((await answer).status, 204);
  }));

Deno.test("webhookEndpoint() refuses invalid options", () => {
  const append = (): Promise<void> => Promise.resolve();
  const make = (options: Partial<WebhookEndpointOptions>) => (): unknown =>
    webhookEndpoint({ append, secrets: [SECRET], ...options });
  assert.throws(make({ secrets: [] }), RangeError);
  assert.throws(make({ secrets: [""] }), RangeError);
  assert.throws(make({ deadlineMs: 0 }), RangeError);
  assert.throws(make({ maxBodyBytes: NaN }), RangeError);
  assert.throws(make({ path: "hooks" }), TypeError);
  assert.throws(make({ allowlist: ["everybody"] }), TypeError);
});

Deno.test("webhookEndpoint() answers 503 to large bodies beyond six a minute, and 204 to all others", () => {
  let passedMs = 0;
  return served(
    { clock: () => performance.now() + passedMs },
    async ({ url, ledger, log, endpoint }) => {
      const large = "x".repeat(64 * 1024 + 1);
      for (let n = 0; n < 6; n++) {
        assert.equal((await post(url, large)).status, 204);
      }
      const chunked = () => new Blob([large]).stream();
      for (const body of [large, chunked(), "x".repeat(1 << 20)]) {
        const refused = await post(url, body);
        assert.equal(refused.status, 503);
        assert.equal(refused.headers.get("retry-after"), "60");
      }
      for (const body of [LOGIN, "x".repeat(64 * 1024)]) {
        assert.equal((await post(url, body)).status, 204);
      }
      assert.equal(ledger.stored.size, 8);
      assert.deepEqual(endpoint.stats().refused, { large_share: 3 });
      assert.equal(typeof endpoint.stats().refusing.large, "string");
      assert.equal(endpoint.stats().refusing.allButSmall, null);
      passedMs += 60_000;
      assert.equal((await post(url, large)).status, 204);
      assert.equal(endpoint.stats().refusing.large, null);
      assert.deepEqual(
        log.map(({ code }) => code).filter((code) => code !== "body_refused"),
        ["large_bodies_refused", "large_bodies_taken"],
      );
    },
  );
});

Deno.test("webhookEndpoint() asks where it stores whether there is room for a body, and tells once that there is not", () =>
  served({
    noRoomFor: (bytes) => bytes > 8 * 1024 ? "nearly_full" : null,
  }, async ({ url, ledger, log, endpoint }) => {
    for (let n = 0; n < 3; n++) {
      assert.equal((await post(url, "x".repeat(9_000))).status, 503);
      assert.equal((await post(url, LOGIN)).status, 204);
    }
    assert.equal(ledger.stored.size, 3);
    assert.deepEqual(endpoint.stats().refused, { nearly_full: 3 });
    assert.equal(typeof endpoint.stats().refusing.allButSmall, "string");
    const alarms = log.filter(({ code }) => code === "spool_nearly_full");
    assert.equal(alarms.length, 1);
    assert.equal(endpoint.stats().unansweredNotes, 0);
  }));

Deno.test("webhookEndpoint() gives large bodies an eighth of the memory for bodies", () =>
  served({
    maxHeldBytes: 8 << 20,
    noRoomFor: () => null,
  }, async ({ url, ledger, endpoint }) => {
    ledger.fate = (): "hang" => "hang";
    const first = post(url, "x".repeat(1 << 20));
    await until(() => ledger.appends === 1);
    assert.equal((await post(url, "x".repeat(70_000))).status, 503);
    assert.deepEqual(endpoint.stats().refused, { large_share: 1 });
    const others = Array.from({ length: 50 }, () => post(url, LOGIN));
    await until(() => ledger.appends === 51);
    ledger.release();
    for (const { status } of await Promise.all([first, ...others])) {
      assert.equal(status, 204);
    }
    assert.equal((await post(url, "x".repeat(70_000))).status, 204);
    assert.equal(endpoint.stats().heldBytes, 0);
  }));

Deno.test("webhookEndpoint() gives up half bodies that use up the memory for a whole one", () => {
  let passedMs = 0;
  return served(
    { maxHeldBytes: 20_000, clock: () => performance.now() + passedMs },
    async ({ base, url, endpoint }) => {
      const { hostname, port } = new URL(base);
      const half = async () => {
        const connection = await Deno.connect({ hostname, port: Number(port) });
        await connection.write(new TextEncoder().encode(
          `POST /webhooks/${SECRET} HTTP/1.1\r\nhost: x\r\n` +
            `content-length: 10000\r\n\r\n{"type":`,
        ));
        return connection;
      };
      const halves = [await half(), await half()];
      await until(() => endpoint.stats().heldBytes === 20_000);
      assert.equal((await post(url, LOGIN)).status, 503, "they are fresh");
      passedMs += 300;
      assert.equal((await post(url, LOGIN)).status, 204);
      const [first] = halves;
      const buffer = new Uint8Array(1024);
      const count = await first?.read(buffer) ?? 0;
      assert.match(
        new TextDecoder().decode(buffer.subarray(0, count)),
        /^HTTP\/1\.1 408 /,
      );
      for (const connection of halves) connection.close();
      await until(() => endpoint.stats().inFlight === 0);
    },
  );
});
