import assert from "node:assert/strict";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { type PostOptions, postWebhook } from "./post_webhook.ts";

const webhook = {
  headers: { "content-type": "application/json", "webhook-id": "m1" },
  body: '{"type":"a.b"}',
};

async function post(
  handler: (request: Request) => Response | Promise<Response>,
  options: PostOptions = {},
) {
  await using server = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler,
  });
  const url = new URL(`http://127.0.0.1:${server.port}/hooks?token=hidden`);
  return await postWebhook(url, webhook, options);
}

Deno.test("postWebhook() posts headers and exact body, and says that they were taken", async () => {
  const outcome = await post(async (request) => {
    assert.equal(request.method, "POST");
    assert.equal(request.headers.get("webhook-id"), "m1");
    assert.equal(await request.text(), webhook.body);
    return new Response("x".repeat(100_000), { status: 202 });
  });
  assert.deepEqual(outcome, { kind: "taken", status: 202 });
});

Deno.test("postWebhook() tells 410, Retry-After and other failures apart", async () => {
  const answer = (status: number, headers: Record<string, string> = {}) =>
    post(() => new Response(null, { status, headers }), { now: () => 0 });
  assert.deepEqual(await answer(410), {
    kind: "gone",
    status: 410,
    reason: "answered 410",
  });
  assert.deepEqual(await answer(503, { "retry-after": "7" }), {
    kind: "retry_after",
    status: 503,
    retryAfterMs: 7000,
    reason: "answered 503",
  });
  assert.deepEqual(await answer(500, { "retry-after": "soon" }), {
    kind: "failed",
    status: 500,
    reason: "answered 500",
  });
});

Deno.test("postWebhook() follows no redirect", async () => {
  let requests = 0;
  const outcome = await post(() => {
    requests++;
    return new Response(null, { status: 307, headers: { location: "/other" } });
  });
  assert.equal(requests, 1);
  assert.ok(outcome.kind === "failed");
  assert.equal(outcome.reason, "answered 307; redirects are not followed");
});

Deno.test("postWebhook() waits no longer than its limit for an answer", async () => {
  const outcome = await postWebhook(new URL("http://127.0.0.1/"), webhook, {
    timeoutMs: 20,
    fetch: () => new Promise(() => {}),
  });
  assert.deepEqual(outcome, {
    kind: "failed",
    status: null,
    reason: "no answer within 20 ms",
  });
});

Deno.test("postWebhook() takes the status for the answer where its body drips, and cuts it", async () => {
  for (const status of [200, 410]) {
    let timer: ReturnType<typeof setInterval> | undefined;
    const cut = Promise.withResolvers<void>();
    const dripping = new ReadableStream<Uint8Array>({
      start: (controller) => {
        timer = setInterval(() => controller.enqueue(Uint8Array.of(46)), 10);
      },
      cancel: () => {
        clearInterval(timer);
        cut.resolve();
      },
    });
    const began = performance.now();
    const outcome = await post(() => new Response(dripping, { status }), {
      timeoutMs: 20_000,
    });
    assert.equal(outcome.kind, status === 200 ? "taken" : "gone");
    assert.ok(performance.now() - began < 19_000);
    await cut.promise;
  }
});

Deno.test("postWebhook() reads a few KiB of an answer at most", async () => {
  let pulled = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1_024;
      controller.enqueue(new Uint8Array(1_024));
    },
  });
  const outcome = await postWebhook(new URL("http://127.0.0.1/"), webhook, {
    fetch: () => Promise.resolve(new Response(endless)),
  });
  assert.equal(outcome.kind, "taken");
  assert.ok(pulled <= 8 * 1_024, `${pulled} bytes`);
});

Deno.test("postWebhook() goes by the status, also where the answer's body is broken", async () => {
  const outcomeOf = (status: number) =>
    postWebhook(new URL("https://shop.example/"), webhook, {
      resolve: () => Promise.resolve(["8.8.8.8"]),
      fetch: () =>
        Promise.resolve(
          new Response(
            new ReadableStream({
              pull: (controller) => controller.error(new Error("not gzip")),
            }),
            { status },
          ),
        ),
    });
  assert.equal((await outcomeOf(200)).kind, "taken");
  assert.equal((await outcomeOf(410)).kind, "gone");
});

Deno.test("postWebhook() refuses link-local addresses and http to public ones, also behind names", async () => {
  const reasonOf = async (url: string, addresses: readonly string[]) => {
    const outcome = await postWebhook(new URL(url), webhook, {
      resolve: () => Promise.resolve(addresses),
      fetch: () => Promise.resolve(new Response(null, { status: 204 })),
    });
    return outcome.kind === "failed" ? outcome.reason : outcome.kind;
  };
  const linkLocal =
    "its address is link-local, a cloud's metadata service or no address of " +
    "one machine: nothing is sent there";
  const open = "its address is public: https is required there";
  for (
    const [url, addresses, reason] of [
      ["https://a.example/", ["169.254.169.254"], linkLocal],
      ["https://a.example/", ["8.8.8.8", "fe80::1"], linkLocal],
      ["https://a.example/", ["::ffff:169.254.169.254"], linkLocal],
      ["https://a.example/", ["64:ff9b::a9fe:a9fe"], linkLocal],
      ["https://a.example/", ["2002:a9fe:a9fe::1"], linkLocal],
      ["https://169.254.169.254/", [], linkLocal],
      ["https://a.example/", ["100.100.100.200"], linkLocal],
      ["http://a.example/", ["fd00:ec2::254"], linkLocal],
      ["http://a.example/", ["64:ff9b::6464:64c8"], linkLocal],
      ["http://[::ffff:a9fe:a9fe]/", [], linkLocal],
      ["http://a.example/", ["8.8.8.8"], open],
      ["http://a.example/", ["10.0.0.1", "8.8.8.8"], open],
      ["http://a.example/", ["64:ff9b::808:808"], open],
      ["http://a.example/", ["10.0.0.1", "fd00::1"], "taken"],
      ["http://a.example/", ["64:ff9b::a01:203"], "taken"],
      ["http://127.0.0.1/", [], "taken"],
      ["http://[::1]/", [], "taken"],
      ["http://[::ffff:10.1.2.3]/", [], "taken"],
      ["https://a.example/", ["8.8.8.8"], "taken"],
    ] as const
  ) assert.equal(await reasonOf(url, addresses), reason, url);
});

Deno.test("postWebhook() says that a target cannot be reached, and nothing of its address", async () => {
  const server = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler: () => new Response(),
  });
  await server.shutdown();
  const unreachable = await postWebhook(
    new URL(`http://127.0.0.1:${server.port}/?token=hidden`),
    webhook,
  );
  assert.ok(unreachable.kind === "failed");
  assert.equal(
    unreachable.reason,
    "could not be reached: connection refused",
  );
  const unknown = await postWebhook(new URL("https://a.example/"), webhook, {
    resolve: () =>
      Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" })),
  });
  assert.ok(unknown.kind === "failed");
  assert.equal(unknown.reason, "its host name was not found (ENOTFOUND)");
});

Deno.test("postWebhook() throws when it is stopped", async () => {
  const stop = new AbortController();
  const url = new URL("http://127.0.0.1/");
  await assert.rejects(
    postWebhook(url, webhook, {
      signal: stop.signal,
      fetch: () => {
        stop.abort(new Error("stopping"));
        return new Promise(() => {});
      },
    }),
    /stopping/,
  );
});

Deno.test("postWebhook() goes through the proxy of the environment as the client does, unless the host is exempt", async () => {
  const askedFor = async (env: Record<string, string>, url: string) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const asked = (async () => {
      const bytes = new Uint8Array(500);
      const connection = await listener.accept().catch(() => null);
      const length = await connection?.read(bytes) ?? 0;
      connection?.close();
      return new TextDecoder().decode(bytes.subarray(0, length));
    })();
    const proxy = `http://127.0.0.1:${listener.addr.port}`;
    const { stdout } = await new Deno.Command("deno", {
      args: [
        "eval",
        `import { postWebhook } from "./post_webhook.ts";
        const post = { headers: {}, body: "{}" };
        console.log(JSON.stringify(await postWebhook(new URL("${url}"), post, {
          timeoutMs: 5000,
          resolve: (host) => Promise.reject(new Error("No such name")),
        })));`,
      ],
      cwd: new URL("./", import.meta.url),
      env: { ...env, HTTPS_PROXY: proxy, NO_COLOR: "1" },
    }).output();
    listener.close();
    const said = JSON.parse(new TextDecoder().decode(stdout));
    return [(await asked).split("\r\n", 1)[0], said.reason];
  };
  const shop = "https://shop.invalid/hooks";
  const [line, reason] = await askedFor({}, shop);
  assert.equal(line, "CONNECT shop.invalid:443 HTTP/1.1");
  assert.match(reason, /^could not be reached/);
  for (
    const exempt of ["shop.invalid", ".invalid", "a.example, invalid", "*"]
  ) {
    assert.deepEqual(
      await askedFor({ NO_PROXY: exempt }, shop),
      ["", "its host name was not found"],
      exempt,
    );
  }
  assert.equal((await askedFor({}, "https://169.254.169.254/"))[0], "");
});
