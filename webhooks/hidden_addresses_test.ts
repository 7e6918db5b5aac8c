import assert from "node:assert/strict";
import { webhookEndpoint } from "./mod.ts";

const SECRET = "path-secret-0123456789abcdef";
const OTHERS = {
  authorization: "Bearer auth-secret-0123456789",
  cookie: "session=cookie-secret-0123456789",
  query: "query-secret-0123456789",
  body: "body-secret-0123456789",
  wrong: "wrong-secret-0123456789",
};

/** The process under observation: every kind of answer, while the runtime traces. */
async function observedProcess(): Promise<void> {
  let failing = false;
  const endpoint = webhookEndpoint({
    secrets: [SECRET],
    append: () =>
      failing
        ? Promise.reject(new Error(`Refused /webhooks/${SECRET}`))
        : Promise.resolve(),
    path: "/webhooks/",
    log: (entry) => console.log(JSON.stringify(entry)),
  });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    endpoint,
  );
  const send = async (
    method: string,
    secret: string,
    body: string,
    path = "/webhooks/",
  ): Promise<void> => {
    using connection = await Deno.connect({
      hostname: "127.0.0.1",
      port: server.addr.port,
    });
    await connection.write(new TextEncoder().encode(
      `${method} ${path}${secret}?key=${OTHERS.query} HTTP/1.1\r\n` +
        `host: shop.example\r\nauthorization: ${OTHERS.authorization}\r\n` +
        `cookie: ${OTHERS.cookie}\r\ncontent-length: ${body.length}\r\n\r\n` +
        body,
    ));
    await connection.read(new Uint8Array(1024));
  };
  await send("POST", SECRET, `{"type":"login","note":"${OTHERS.body}"}`);
  await send("POST", SECRET, `not JSON, ${OTHERS.body}`);
  await send("POST", SECRET, `{"type":"coffee_brewed"}`);
  await send("GET", SECRET, "");
  await send("POST", OTHERS.wrong, "{}");
  await send("POST", SECRET, "{}", "//webhooks/");
  await send("POST", SECRET, "{}", "/misplaced/webhooks/");
  await send("POST", SECRET, "{}", "/webhook/");
  await send("POST", SECRET, "{}", "/%77ebhooks/");
  await send("POST", SECRET, "{}", "/");
  await send("POST", `%70${SECRET.slice(1)}/`, "{}", "/Webhooks/");
  await send("GET", "healthz", "", "/");
  failing = true;
  await send("POST", SECRET, `{"type":"login"}`);
  // Until the spans have been sent.
  await new Response(Deno.stdin.readable).text();
  await server.shutdown();
  await endpoint.drain();
}

if (import.meta.main && Deno.args[0] === "observed") {
  await observedProcess();
} else {
  Deno.test("webhookEndpoint() lets no secret into traces or logs, the runtime's own included", async () => {
    const received: { path: string; text: string }[] = [];
    const collector = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const { pathname } = new URL(request.url);
        received.push({ path: pathname, text: await request.text() });
        return Response.json({});
      },
    );
    const child = new Deno.Command("deno", {
      args: [
        "run",
        "--allow-env",
        "--allow-net=127.0.0.1",
        import.meta.filename ?? "",
        "observed",
      ],
      env: {
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
        OTEL_BSP_SCHEDULE_DELAY: "100",
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = child.output();
    let ended = false;
    const ending = child.status.then(() => {
      ended = true;
    });
    // The last delivery is the only one that is answered so.
    const isTraced = () =>
      received.some(({ path, text }) =>
        path === "/v1/traces" && /Value":\s*"?503\b/.test(text)
      );
    const giveUpAt = performance.now() + 60_000;
    while (!isTraced() && !ended && performance.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await child.stdin.close().catch(() => {});
    await ending;
    const { stdout, stderr, success } = await output;
    await collector.shutdown();
    const printed = new TextDecoder().decode(stdout) +
      new TextDecoder().decode(stderr);
    assert(success, printed);

    const everything = printed + received.map(({ text }) => text).join("\n");
    const secrets = [SECRET, SECRET.slice(1), ...Object.values(OTHERS)]
      .flatMap((secret) => [secret, encodeURIComponent(secret), btoa(secret)]);
    for (const secret of secrets) {
      assert(!everything.includes(secret), `${secret} got out`);
    }

    // The search above would find nothing in nothing.
    const of = (path: string): string =>
      received.filter((one) => one.path === path).map(({ text }) => text)
        .join("\n");
    const traces = of("/v1/traces");
    assert(traces.includes("url.full"));
    assert(traces.includes("/{path}"));
    assert(!traces.includes("probe"));
    assert(of("/v1/logs").includes("append_failing"));
    for (const answer of [204, 404, 405, 503]) {
      assert(RegExp(`Value":\\s*"?${answer}\\b`).test(traces), `${answer}`);
    }
  });
}
