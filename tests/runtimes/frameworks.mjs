/**
 * The recipes of the README for Express and Next, with the packages themselves:
 * a real app of Express over HTTP, and the request that Next hands to a route
 * handler, for which no app has to be built.
 */
import { getRequestListener } from "@hono/node-server";
import { webhookEndpoint } from "@rampkit/onramp/webhooks";
import express from "express";
import assert from "node:assert/strict";
import { once } from "node:events";

// Only the folder that the test installs has it: too large for a dependency.
const NEXT = "next/server.js";
const { NextRequest } = await import(NEXT);

const SECRET = "the-secret-in-the-webhook-address";
const BODY = '{"type":"order_complete","order":{"id":"a"}}';
const bodies = [];
const endpoint = webhookEndpoint({
  append: ({ body }) => {
    bodies.push(new TextDecoder().decode(body));
    return Promise.resolve();
  },
  secrets: [SECRET],
});

// app/hooks/[secret]/route.ts
const POST = (request) => endpoint(request);
for (const [secret, status] of [[SECRET, 204], ["wrong", 404]]) {
  const request = new NextRequest(`https://shop.example/hooks/${secret}`, {
    method: "POST",
    body: BODY,
  });
  assert.equal((await POST(request)).status, status);
}

const app = express();
app.use("/hooks", getRequestListener((request) => endpoint(request)));
app.use(express.json());
app.post("/echo", (request, response) => response.json(request.body));
const server = app.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${server.address().port}`;
for (const [secret, status] of [[SECRET, 204], ["wrong", 404]]) {
  const answer = await fetch(`${url}/hooks/${secret}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: BODY,
  });
  assert.equal(answer.status, status);
}
// Its body parser serves the routes behind it as ever.
const echoed = await fetch(`${url}/echo`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: BODY,
});
assert.deepEqual(await echoed.json(), JSON.parse(BODY));
server.closeAllConnections();
server.close();

assert.deepEqual(bodies, [BODY, BODY]);
await endpoint.drain();
console.log(JSON.stringify({ stored: bodies.length }));
