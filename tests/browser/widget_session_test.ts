import assert from "node:assert/strict";
import { type CustomEnvironment, OnrampClient } from "../../client/mod.ts";
import type { SessionCreatedBody } from "../../ledger/types.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import {
  draftOptions,
  fetchSession,
  sessionEndpoint,
} from "../../widget/mod.ts";

const environment: CustomEnvironment = {
  name: "test",
  baseUrl: "http://service",
  cardsBaseUrl: "http://service",
  widgetOrigin: "http://service",
  dashboardUrl: "http://service",
  assets: "sandbox",
};

Deno.test("a session goes from the client to the page and to the ledger, the key to neither", async () => {
  await using sandbox = createSandbox({ apiKey: "sk-secret-key" });
  const client = new OnrampClient({
    environment,
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    requestsPerSecond: 1_000,
  });
  const records: SessionCreatedBody[] = [];
  const endpoint = sessionEndpoint({
    authorise: () => ({ id: "u" }),
    plan: () => ({
      session: {
        commodity: "TT",
        network: "amoy",
        currency: "USD" as const,
        currency_amount: "25.50",
      },
      reference: "basket 7",
    }),
    createSession: (session) => client.sessions.create(session),
    recordSession: (record) => {
      records.push(record);
      return Promise.resolve();
    },
  });
  const answers: string[] = [];
  const ticket = await fetchSession("http://shop/session", {
    fetch: async (input, init) => {
      const request = new Request(input, init);
      request.headers.set("origin", "http://shop");
      const response = await endpoint(request);
      answers.push(await response.clone().text());
      answers.push(JSON.stringify([...response.headers]));
      return response;
    },
  });
  const [record] = records;
  assert.equal(ticket.take(Date.now()), record?.session_id);
  assert.equal(ticket.clickId, record?.click_id);
  assert.equal(record?.reference, "basket 7");
  assert.equal(record?.currency_amount, "25.50");
  assert.equal(record?.flow_type, "simple");
  const told = [...answers, JSON.stringify(records)].join(" ");
  assert.doesNotMatch(told, /sk-secret/);
});

Deno.test("the page learns nothing of a session that the service refused", async () => {
  await using sandbox = createSandbox({ apiKey: "another" });
  const client = new OnrampClient({
    environment,
    apiKey: "sk-secret-key",
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
    requestsPerSecond: 1_000,
  });
  const reported: unknown[] = [];
  const endpoint = sessionEndpoint({
    authorise: () => ({ id: "u" }),
    plan: () => ({ session: {} }),
    createSession: (session) => client.sessions.create(session),
    recordSession: () => Promise.resolve(),
    report: (error) => reported.push(error),
  });
  const headers = {
    "content-type": "application/json",
    origin: "http://shop",
  };
  const response = await endpoint(
    new Request("http://shop/session", { method: "POST", headers, body: "{}" }),
  );
  assert.equal(response.status, 502);
  assert.deepEqual(await response.json(), { error: "no_session" });
  assert.equal(reported.length, 1);
  assert.doesNotMatch(Deno.inspect(reported), /sk-secret/);
});

Deno.test("the client's environments fit the widget's", () => {
  const client = new OnrampClient({ environment, apiKey: "k" });
  const input = { partner_id: "p", commodity: "TT", network: "amoy" } as const;
  const draft = draftOptions(input, { environment: client.environment });
  assert.equal(draft.origin, "http://service");
});
