import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { until } from "../../tests/kit/until.ts";
import { webhookSigner } from "../forwarding/signed_webhook.ts";
import { forwardAlarms } from "./forward_alarms.ts";

const SECRET = `whsec_${btoa("a secret of enough bytes, for tests")}`;

Deno.test("forwardAlarms() tells every target, and a target that hangs holds nobody up", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
    worker: false,
  });
  const told: string[] = [];
  const stop = new AbortController();
  let broken = true;
  const running = forwardAlarms({
    ledger,
    databaseUrl: ":memory:",
    targets: ["hangs", "breaks", "takes"].map((name) => ({
      name,
      url: new URL(`http://127.0.0.1/${name}`),
    })),
    sign: webhookSigner([SECRET]),
    readiness: () =>
      Promise.resolve({
        writable: true,
        lag: 0,
        spooled: 0,
        problem: null,
        degraded: [],
        polling: null,
      }),
    foldFailingSince: () => null,
    refusing: () => ({ large: null, allButSmall: null }),
    chainBroken: () => broken,
    log: () => {},
    now: Date.now,
    sleep: () => new Promise((resolve) => setTimeout(resolve, 0)),
    post: {
      fetch: (url, { body }) => {
        const { type } = JSON.parse(String(body));
        if (url.endsWith("/hangs")) return new Promise(() => {});
        if (url.endsWith("/breaks")) return Promise.reject(new TypeError("No"));
        told.push(type);
        return Promise.resolve(new Response(null, { status: 204 }));
      },
    },
  }, stop.signal);
  await until(() => told.length === 1);
  broken = false;
  await until(() => told.length === 2);
  stop.abort();
  await running;
  assert.deepEqual(told, ["rampkit.alarm.raised", "rampkit.alarm.cleared"]);
});
