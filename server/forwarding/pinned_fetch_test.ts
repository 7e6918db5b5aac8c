import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { KeptConnections, pinnedFetch, postWebhook } from "./post_webhook.ts";

const init = {
  headers: { "content-type": "application/json" },
  body: '{"shop":"é"}',
  signal: new AbortController().signal,
};

async function receiver(
  handler: (request: Request) => Response | Promise<Response>,
) {
  const server = await openHttpServer({
    port: 0,
    hostname: "127.0.0.1",
    handler,
  });
  return { server, url: `http://shop.invalid:${server.port}/hooks?a=b` };
}

Deno.test("pinnedFetch() connects to the address that was looked at, whatever the name means", async () => {
  const heard: string[] = [];
  const { server, url } = await receiver(async (request) => {
    const { pathname, search } = new URL(request.url);
    heard.push(
      `${request.method} ${pathname}${search} ${request.headers.get("host")}`,
      await request.text(),
    );
    return new Response("taken", { headers: { "retry-after": "7" } });
  });
  // No name server knows shop.invalid.
  const response = await pinnedFetch(url, init, { addresses: ["127.0.0.1"] });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("retry-after"), "7");
  assert.equal(await response.text(), "taken");
  assert.deepEqual(heard, [
    `POST /hooks?a=b shop.invalid:${server.port}`,
    '{"shop":"é"}',
  ]);
  await server.shutdown();
});

Deno.test("pinnedFetch() asks the address that was looked at for the name's certificate", async () => {
  const hello = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.once("data", (bytes) => {
      hello.resolve(bytes.toString("latin1"));
      socket.destroy();
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const route = { addresses: ["127.0.0.1"] };
  await assert.rejects(
    pinnedFetch(`https://shop.invalid:${port}/`, init, route),
  );
  assert.ok((await hello.promise).includes("shop.invalid"));
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("pinnedFetch() answers soon where the first address takes no connection", async () => {
  // In a process of its own, which may use more addresses of this machine.
  const { success, stdout, stderr } = await new Deno.Command("deno", {
    args: ["eval", SEVERAL_ADDRESSES],
    cwd: new URL("./", import.meta.url),
    stdout: "piped",
    stderr: "piped",
  }).output();
  const said = new TextDecoder().decode(stdout);
  assert.ok(success, new TextDecoder().decode(stderr));
  const { full, refusing, none } = JSON.parse(said);
  assert.equal(full.answer, "taken");
  assert.ok(full.ms < 3000, said);
  assert.equal(refusing, "taken");
  assert.match(none, /ECONNREFUSED/);
});

/** The first address listens and takes nothing: as many wait there as can. */
const SEVERAL_ADDRESSES = `
  import { pinnedFetch } from "./post_webhook.ts";
  import { createServer } from "node:http";
  const server = createServer((_, response) => response.end("taken"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  Deno.listen({ hostname: "127.0.0.2", port });
  for (let isFull = false; !isFull;) {
    const connection = Deno.connect({ hostname: "127.0.0.2", port });
    const late = new Promise((resolve) => setTimeout(resolve, 200, "late"));
    isFull = await Promise.race([connection, late]) === "late";
  }
  const post = (addresses) =>
    pinnedFetch("http://shop.invalid:" + port + "/", {
      headers: {},
      body: "{}",
      signal: AbortSignal.timeout(10_000),
    }, { addresses }).then((answer) => answer.text(), (error) => String(error.code ?? error));
  const begun = performance.now();
  const answer = await post(["127.0.0.2", "127.0.0.1"]);
  const full = { answer, ms: performance.now() - begun };
  const refusing = await post(["127.0.0.3", "127.0.0.1"]);
  const none = await post(["127.0.0.3", "127.0.0.4"]);
  console.log(JSON.stringify({ full, refusing, none }));
  Deno.exit(0);
`;

Deno.test({
  name: "pinnedFetch() says that it may not connect, and ends nothing else",
  permissions: { net: false },
  fn: async () => {
    for (const address of ["127.0.0.1", "::1"]) {
      await assert.rejects(
        pinnedFetch("http://shop.invalid/", init, { addresses: [address] }),
        { code: "EPERM" },
      );
    }
  },
});

Deno.test("pinnedFetch() says that a name has no address", async () => {
  await assert.rejects(
    pinnedFetch("http://shop.invalid/", init, { addresses: [] }),
    /no address/,
  );
});

Deno.test("pinnedFetch() uses kept connections again, and ends them when they are closed", async () => {
  const { server, url } = await receiver(() => new Response("x"));
  const connections = new KeptConnections();
  for (let left = 3; left > 0; left--) {
    const route = { addresses: ["127.0.0.1"], connections };
    await (await pinnedFetch(url, init, route)).text();
  }
  const sockets = Object.values(connections.http.freeSockets).flat();
  assert.equal(sockets.length, 1);
  connections.close();
  await server.shutdown();
});

Deno.test("pinnedFetch() ends when it is aborted", async () => {
  const stop = new AbortController();
  const heard = Promise.withResolvers<void>();
  const held = Promise.withResolvers<Response>();
  const { server, url } = await receiver(() => {
    heard.resolve();
    return held.promise;
  });
  const sent = pinnedFetch(url, { ...init, signal: stop.signal }, {
    addresses: ["127.0.0.1"],
  });
  await heard.promise;
  stop.abort(new Error("stopping"));
  await assert.rejects(sent, /stopping/);
  held.resolve(new Response());
  await server.shutdown();
});

Deno.test("postWebhook() asks for the addresses of a name once", async () => {
  let asked = 0;
  let taken = 0;
  const { server, url } = await receiver(() => {
    taken++;
    return new Response();
  });
  const outcome = await postWebhook(new URL(url), init, {
    // A name that leads elsewhere when it is asked a second time.
    resolve: () =>
      Promise.resolve(asked++ === 0 ? ["127.0.0.1"] : ["169.254.169.254"]),
  });
  assert.deepEqual([outcome.kind, asked, taken], ["taken", 1, 1]);
  await server.shutdown();
});
