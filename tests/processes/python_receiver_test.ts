import { readConfig } from "../../core/settings/config.ts";
import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { Webhook } from "standardwebhooks";
import { OnrampClient } from "../../client/mod.ts";
import { forwardingOf } from "../../cli/serve_flags/serve_flags.ts";
import { webhookSigner } from "../../server/forwarding/transition_message.ts";
import { readGuide } from "../guides/guide.ts";
import { hasShape } from "../kit/shape.ts";
import { serviceMetrics } from "../../server/monitoring/metrics.ts";
import { createPoller } from "../../sync/mod.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { until } from "../kit/until.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const OLD_SECRET = `whsec_${btoa("the secret of before, enough bytes")}`;
const SECRET = `whsec_${btoa("the secret of today, of enough bytes")}`;

/** The lines of the page, exactly. */
async function pythonOfThePage(): Promise<string> {
  return (await readGuide("docs/guides/python.md")).files.get("hooks.py") ?? "";
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The page's back end as it runs, or null where there is no Python. */
async function startPython(folder: string) {
  const port = await freePort();
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("python3", {
      args: ["-c", await pythonOfThePage()],
      cwd: folder,
      env: { RAMPKIT_FORWARD_SECRET: SECRET, PORT: String(port) },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  const said: string[] = [];
  const errors: string[] = [];
  const read = async (
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    into: string[],
  ) => {
    const lines = stream.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) into.push(line);
  };
  const reading = Promise.all([
    read(child.stdout, said),
    read(child.stderr, errors),
  ]);
  const url = `http://127.0.0.1:${port}/hooks`;
  const post = async (
    headers: Readonly<Record<string, string>>,
    body: string,
  ): Promise<number> => {
    const answer = await fetch(url, { method: "POST", headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  await until(
    () => post({}, "{}").then((status) => status === 401, () => false),
    "the back end of the page listens",
  );
  return {
    url,
    said,
    errors,
    post,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

/** A receiver with the library of the specification. */
function startLibraryReceiver() {
  const webhook = new Webhook(OLD_SECRET);
  const taken: { headers: Record<string, string>; body: string }[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const headers = Object.fromEntries(request.headers);
      const body = await request.text();
      try {
        webhook.verify(body, headers);
      } catch {
        return new Response(null, { status: 401 });
      }
      taken.push({ headers, body });
      return new Response(null, { status: 204 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/hooks`,
    taken,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

Deno.test("the back end of the Python guide releases goods once, on a signed and confirmed event, and refuses forged and replayed ones; so does the specification's library", async () => {
  await using folder = await temporaryFolder();
  await using python = await startPython(folder.path);
  await using library = startLibraryReceiver();
  if (python === null) {
    console.log("Skipped the Python back end: there is no python3 here");
  }
  await using sandbox = createSandbox();
  await using ledger = await emptyLedger();
  const poller = createPoller({
    ledger,
    client: new OnrampClient({
      environment: "sandbox",
      apiKey: sandbox.apiKey,
      requestsPerSecond: 1000,
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    }),
  });
  const forward = forwardingOf(readConfig(() => undefined, {
    forwardTo: [library.url, ...(python === null ? [] : [python.url])],
    // Both while one is being replaced: each receiver knows only one.
    forwardSecrets: `${SECRET},${OLD_SECRET}`,
  }));
  const stop = new AbortController();
  const senders = new Set<unknown>();
  const forwarding = forward?.run({
    ledger,
    log: (_level, event, fields) => {
      if (event === "forwarding") senders.add(fields?.target);
    },
    metrics: serviceMetrics(),
    now: Date.now,
  }, stop.signal);
  const targets = python === null ? 1 : 2;
  await until(() => senders.size === targets);
  await until(async () =>
    (await ledger.subscriptions.list()).length === targets
  );
  await ledger.recordSession({
    session_id: "s-7",
    click_id: "c-7",
    reference: "basket-7",
    currency: "USD",
    currency_amount: "49.90",
  });
  const { orderId } = sandbox.createOrder({
    clickId: "c-7",
    currencyAmount: "49.90",
  });
  // Another basket is paid less than it costs: it is confirmed, and waits.
  await ledger.recordSession({
    session_id: "s-8",
    click_id: "c-8",
    reference: "basket-8",
    currency: "USD",
    currency_amount: "900",
  });
  const cheap = sandbox.createOrder({ clickId: "c-8", currencyAmount: "20" });
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(cheap.orderId, step);
  }
  // What only a webhook says releases nothing.
  await ledger.appendDelivery({
    id: "01M7WYY537RGCZBMWCSRKH5NWA",
    receivedAt: new Date().toISOString(),
    body: new TextEncoder().encode(
      `{"type":"order_complete","click_id":"","order":{"id":"${orderId}"}}`,
    ),
  });
  await ledger.project();
  await until(() => library.taken.length === 1);
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.advance(orderId, step);
  }
  await poller.once();
  await ledger.project();
  const success = () =>
    library.taken.find(({ body }) =>
      JSON.parse(body).type === "order.release.yes"
    );
  await until(() => success() !== undefined);
  const { headers = {}, body = "" } = success() ?? {};
  const event = JSON.parse(body);
  hasShape("forwarded-transition", event);
  assert.equal(event.data.release, "yes");
  assert.equal(event.data.reference, "basket-7");
  assert.equal(event.data.state.currencyAmount, "49.90");
  assert.equal(headers["webhook-id"], event.data.key);

  if (python !== null) {
    const released = `Release basket-7 of order ${orderId}`;
    await until(() => python.said.length > 0, python.errors.join("\n"));
    assert.deepEqual(python.said, [released]);
    const { host: _, "content-length": __, ...sent } = headers;
    const at = Date.now();
    const message = { ...event, id: event.data.key };
    const other = {
      ...message,
      id: "order:other:release.yes",
      data: { ...event.data, id: "other", key: "order:other:release.yes" },
    };
    const forger = `whsec_${btoa("what somebody else signs with, long")}`;
    const cases: readonly [
      string,
      { readonly headers: Readonly<Record<string, string>>; body: string },
      number,
    ][] = [
      ["sent again", { headers: sent, body }, 204],
      [
        "sent again hours later",
        webhookSigner([SECRET])(other, at - 3_600_000),
        401,
      ],
      [
        "from the future",
        webhookSigner([SECRET])(other, at + 3_600_000),
        401,
      ],
      ["signed by somebody else", webhookSigner([forger])(other, at), 401],
      [
        "another body",
        { headers: sent, body: body.replaceAll(orderId, "other") },
        401,
      ],
      [
        "another id",
        { headers: { ...sent, "webhook-id": "other" }, body },
        401,
      ],
      [
        "a signature that is none",
        { headers: { ...sent, "webhook-signature": "v1,ÿ v2,x" }, body },
        401,
      ],
      ["no signature", { headers: {}, body }, 401],
      [
        "it waits",
        webhookSigner([SECRET])({ ...other, type: "order.release.wait" }, at),
        204,
      ],
    ];
    for (const [what, message, status] of cases) {
      assert.equal(
        await python.post(message.headers, message.body),
        status,
        what,
      );
    }
    assert.deepEqual(python.said, [released]);
    // The same back end releases what is new: nothing above was a fluke.
    const { headers: signed, body: fresh } = webhookSigner([SECRET])(
      other,
      Date.now(),
    );
    assert.equal(await python.post(signed, fresh), 204);
    await until(() => python.said.length === 2, python.errors.join("\n"));
  }
  stop.abort();
  await forwarding;
});

Deno.test("the back end of the Python guide has about thirty lines, and needs no library", async () => {
  const lines = (await pythonOfThePage()).split("\n").filter((line) =>
    line.trim() !== ""
  );
  assert.ok(lines.length > 20 && lines.length <= 32, `${lines.length} lines`);
  const imports = lines.filter((line) => /^(import|from) /.test(line));
  assert.deepEqual(imports, [
    "import base64, hmac, json, os, sqlite3, time",
    "from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer",
  ]);
});
