import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { Activity } from "../../cli/listen/activity_printer.ts";
import type { ListenPlaces } from "../../cli/listen/run_listen.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { hasShape } from "../kit/shape.ts";
import { until } from "../kit/until.ts";

const SECRET = `whsec_${btoa("what this receiver signs with: long")}`;

/** Settings of something real, which must not be touched. */
const REAL = {
  RAMPKIT_ENVIRONMENT: "production",
  RAMPKIT_API_KEY: "a-real-key",
  RAMPKIT_DATABASE_URL: "libsql://real.example",
  RAMPKIT_BASE_URL: "https://real.example",
  RAMPKIT_FORWARD_TO: "https://real.example/hooks",
};

/** A running `listen`, and what it has printed. */
function startListen(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  const stop = new AbortController();
  let out = "";
  const running = cli(
    ["listen", "--port", "0", "--json", ...args],
    env,
    stop.signal,
    (text) => out += text,
  );
  const lines = () =>
    out.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  return {
    places: async (): Promise<ListenPlaces> => {
      let ended = false;
      running.then(() => ended = true);
      await until(() => ended || out.includes("\n"));
      if (ended) assert.fail((await running).err);
      return lines()[0];
    },
    activities: (): Activity[] => lines().slice(1),
    stop: () => {
      stop.abort();
      return running;
    },
  };
}

Deno.test("listen prints a line per delivery, transition and forwarded webhook, and signs what it forwards", async () => {
  const webhook = new Webhook(SECRET);
  const received: string[] = [];
  await using receiver = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const headers = Object.fromEntries(request.headers);
      const event = webhook.verify(await request.text(), headers);
      received.push((event as { type: string }).type);
      return new Response(null, { status: 204 });
    },
  );
  const target = `http://127.0.0.1:${receiver.addr.port}/hooks`;
  const listen = startListen(
    ["--forward-to", `${target} order.*.*`],
    { ...REAL, RAMPKIT_FORWARD_SECRET: SECRET },
  );
  const places = await listen.places();
  hasShape("listening", places);
  assert.deepEqual(places.forwardTo, [target]);
  const has = (kind: Activity["kind"], type: string) =>
    listen.activities().find((one) => one.kind === kind && one.type === type);
  const trigger = await cli([
    ...["trigger", "success", "--amount", "25.00"],
    ...["--sandbox", places.sandbox, "--json"],
  ]);
  assert.equal(trigger.code, 0, trigger.err);
  const { orderId } = JSON.parse(trigger.out);
  await until(() => has("out", "order.confirmed.success") !== undefined);
  const { code, err } = await listen.stop();
  assert.equal(code, 0, err);
  assert.equal(err, "Stopped: the sandbox is gone, and its ledger with it\n");
  const path = places.ledger.replace(/^file:/, "");
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);

  for (const activity of listen.activities()) {
    hasShape("activity", activity);
  }
  const order = {
    entity: "order",
    id: orderId,
    currency: "USD",
    currencyAmount: "25.00",
  };
  assert.partialDeepStrictEqual(
    has("in", "order_complete"),
    { ...order, answer: 204, target: null },
  );
  assert.partialDeepStrictEqual(
    has("now", "order.confirmed.success"),
    { ...order, answer: null, detail: "release: yes" },
  );
  assert.partialDeepStrictEqual(
    has("out", "order.confirmed.success"),
    { ...order, answer: 204, target, detail: null },
  );
  assert.ok(received.includes("order.confirmed.success"));
  assert.ok(received.every((type) => type.startsWith("order.")));
});

Deno.test("listen says when the receiver does not answer, and sends again once it does", async () => {
  // A port that nobody listens on until later.
  const free = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = free.addr;
  free.close();
  await using ledger = await temporaryLedger();
  const listen = startListen([
    ...["--forward-to", `http://127.0.0.1:${port}/hooks order.claimed.*`],
    ...["--ledger", ledger.url.replace(/^file:/, "")],
  ], REAL);
  const { sandbox } = await listen.places();
  const trigger = await cli([
    ...["trigger", "failed", "--pause", "0", "--sandbox", sandbox],
  ]);
  assert.equal(trigger.code, 0, trigger.err);
  const out = () => listen.activities().filter(({ kind }) => kind === "out");
  await until(() => out().some(({ detail }) => detail === "no answer"));
  let came = 0;
  await using _receiver = Deno.serve(
    { port, hostname: "127.0.0.1", onListen: () => {} },
    () => {
      came++;
      return new Response(null, { status: 204 });
    },
  );
  await until(() => out().some(({ answer }) => answer === 204));
  assert.ok(came > 0);
  const { code, err } = await listen.stop();
  assert.equal(code, 0, err);
  assert.equal(err, "Stopped: the sandbox is gone\n");
  assert.ok((await Deno.stat(ledger.url.replace(/^file:/, ""))).size > 0);
});

Deno.test("listen refuses a ledger that is no file, and a target that is no address", async () => {
  for (
    const [args, message] of [
      [["--ledger", "libsql://real.example"], /^Wrong --ledger: /],
      [["--forward-to", "3000"], /^Wrong --forward-to: /],
      [
        ["--forward-to", "http://127.0.0.1:1/ order.nope.*"],
        /^Wrong --forward/,
      ],
    ] as const
  ) {
    const { code, err } = await cli(["listen", "--port", "0", ...args], REAL);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
});

Deno.test("listen prints for people what a program of theirs asks the sandbox with", async () => {
  const stop = new AbortController();
  const { code, out, err } = await cli(
    ["listen", "--port", "0"],
    REAL,
    stop.signal,
    (text) => text.includes("RAMPKIT_PARTNER_ID=") && stop.abort(),
  );
  assert.equal(code, 0, err);
  assert.match(
    out,
    /\n {2}export RAMPKIT_ENVIRONMENT=sandbox\n {2}export RAMPKIT_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n {2}export RAMPKIT_API_KEY=sandbox-key\n {2}export RAMPKIT_WIDGET_ORIGIN=(http:\/\/127\.0\.0\.1:\d+)\n {2}export RAMPKIT_PARTNER_ID=\S+\n/,
  );
  assert.equal(
    /RAMPKIT_WIDGET_ORIGIN=(\S+)/.exec(out)?.[1],
    /RAMPKIT_BASE_URL=(\S+)/.exec(out)?.[1],
  );
});
