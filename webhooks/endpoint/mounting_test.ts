import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
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

Deno.test("webhookEndpoint() mounts in Express, which cuts the prefix of a mount", () =>
  delivered(async (endpoint, deliver) => {
    const listener = getRequestListener((request) => endpoint(request), {
      overrideGlobalObjects: false,
    });
    // What `app.use("/hooks", listener)` does to the request.
    const express: RequestListener = (request, response) => {
      request.url = request.url?.replace(/^\/hooks(?=\/)/, "") ?? "/";
      listener(request, response);
    };
    const server = createServer(express).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      await deliver((secret) =>
        fetch(webhook(`http://127.0.0.1:${port}/hooks/${secret}`))
      );
    } finally {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    }
  }));

Deno.test("webhookEndpoint() is a route handler of Next", () =>
  delivered((endpoint, deliver) => {
    // app/hooks/[secret]/route.ts
    const POST = (request: Request): Promise<Response> => endpoint(request);
    return deliver((secret) => POST(webhook(`http://shop/hooks/${secret}`)));
  }));
