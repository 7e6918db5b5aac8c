import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import express from "express";
import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebhookEndpoint, webhookEndpoint } from "./endpoint.ts";

const SECRET = "a-long-unguessable-secret-of-the-tests";

/** Delivers to a mounted endpoint, rightly and with a wrong secret. */
async function delivered(
  mount: (
    endpoint: WebhookEndpoint,
    deliver: (send: (secret: string) => Promise<Response>) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  let stored = 0;
  const endpoint = webhookEndpoint({
    append: () => {
      stored++;
      return Promise.resolve();
    },
    secrets: [SECRET],
  });
  await mount(endpoint, async (send) => {
    const taken = await send(SECRET);
    assert.equal(taken.status, 204, await taken.text());
    const refused = await send("wrong");
    assert.equal(refused.status, 404);
    await refused.body?.cancel();
  });
  assert.equal(stored, 1);
  await endpoint.drain();
}

/** Only the right one has a body: a server waits for one that is not read. */
function webhook(url: string): Request {
  return new Request(url, {
    method: "POST",
    ...(url.endsWith(SECRET) ? { body: `{"type":"login"}` } : {}),
  });
}

Deno.test("webhookEndpoint() mounts in Deno.serve", () =>
  delivered(async (endpoint, deliver) => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      endpoint,
    );
    const base = `http://127.0.0.1:${server.addr.port}/hooks`;
    await deliver((secret) => fetch(webhook(`${base}/${secret}`)));
  }));

for (const at of ["/hooks", "/api/v1/onramp"]) {
  Deno.test(`webhookEndpoint() mounts in Hono, as a route and under ${at}`, () =>
    delivered((endpoint, deliver) => {
      const app = new Hono();
      app.post(`${at}/:secret`, (c) => endpoint(c.req.raw));
      return deliver((secret) =>
        Promise.resolve(app.request(webhook(`http://shop${at}/${secret}`)))
      );
    }).then(() =>
      delivered((endpoint, deliver) => {
        const app = new Hono();
        app.mount(at, (request) => endpoint(request));
        return deliver((secret) =>
          Promise.resolve(app.request(webhook(`http://shop${at}/${secret}`)))
        );
      })
    ));
}

/** The part of an app of Express that is used here; it brings no types. */
interface ExpressApp {
  use(path: string, ...listeners: readonly RequestListener[]): void;
  use(...listeners: readonly RequestListener[]): void;
  post(path: string, listener: RequestListener): void;
  listen(port: number, hostname: string): Server;
}

/** Runs an app of Express, and gives what listens to requests for it. */
async function onExpress(
  endpoint: WebhookEndpoint,
  mount: (app: ExpressApp, listener: RequestListener) => void,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const app: ExpressApp = express();
  mount(
    app,
    getRequestListener((request) => endpoint(request), {
      overrideGlobalObjects: false,
    }),
  );
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    await work(`http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
}

const expressMounts: Record<string, Parameters<typeof onExpress>[1]> = {
  "a prefix, which it cuts": (app, listener) => app.use("/hooks", listener),
  "a route": (app, listener) => app.post("/hooks/:secret", listener),
};

for (const [name, mount] of Object.entries(expressMounts)) {
  Deno.test(`webhookEndpoint() mounts in Express, as ${name}, ahead of body parsers`, () =>
    delivered((endpoint, deliver) =>
      onExpress(endpoint, (app, listener) => {
        mount(app, listener);
        app.use(express.json());
      }, (url) => deliver((secret) => fetch(webhook(`${url}/hooks/${secret}`))))
    ));
}

Deno.test("webhookEndpoint() behind a body parser of Express stores nothing, and never answers 2xx", async () => {
  let stored = 0;
  const told: string[] = [];
  const endpoint = webhookEndpoint({
    append: () => Promise.resolve(void stored++),
    secrets: [SECRET],
    log: ({ code, message }) => told.push(`${code}: ${message}`),
    onAnswer: ({ refusal }) => told.push(`${refusal}`),
  });
  await onExpress(endpoint, (app, listener) => {
    app.use(express.json());
    app.use("/hooks", listener);
  }, async (url) => {
    const answer = await fetch(`${url}/hooks/${SECRET}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"type":"login"}',
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 503);
  });
  assert.equal(stored, 0);
  assert.deepEqual(told, [
    "body_refused: A body was read before the endpoint got it: mount the " +
    "endpoint ahead of body parsers, such as express.json()",
    "read_before",
  ]);
  await endpoint.drain();
});

Deno.test("webhookEndpoint() is a route handler of Next with trailingSlash, which sends every address on to one with a slash", () =>
  delivered((endpoint, deliver) =>
    deliver((secret) =>
      endpoint(
        new Request(`http://shop/hooks/${secret}/`, {
          method: "POST",
          body: `{"type":"login"}`,
        }),
      )
    )
  ));

// With the real `NextRequest`: `deno task test:runtimes`, as Next is 218 MB.
Deno.test("webhookEndpoint() is a route handler of Next", () =>
  delivered((endpoint, deliver) => {
    // app/hooks/[secret]/route.ts
    const POST = (request: Request): Promise<Response> => endpoint(request);
    return deliver((secret) => POST(webhook(`http://shop/hooks/${secret}`)));
  }));
