import assert from "node:assert/strict";
import { type Finding, found } from "../../resources/health/finding.ts";
import { until } from "../../tests/kit/until.ts";
import { webhookSigner } from "../forwarding/transition_message.ts";
import type { Problem } from "./alarm_message.ts";
import { watchHealth } from "./alarm_sender.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const SECRET = `whsec_${btoa("a secret of enough bytes, for tests")}`;

const config = { databaseUrl: ":memory:", spoolDir: null };

/** A ledger in memory of which a test says what is wrong. */
async function watched(
  more: Pick<Parameters<typeof watchHealth>[0], "alarms" | "onProblem"> = {},
) {
  const ledger = await emptyLedger();
  const here: { own: readonly Finding[] } = { own: [found("ledger_writable")] };
  const log: string[] = [];
  const measured: (readonly Finding[])[] = [];
  const health = watchHealth({
    ledger,
    config,
    own: () => Promise.resolve(here.own),
    log: (level, event, fields) =>
      void log.push(`${level} ${event} ${fields?.code}`),
    metrics: { conditions: (findings) => void measured.push(findings) },
    now: Date.now,
    sleep: () => new Promise((resolve) => setTimeout(resolve, 0)),
    ...more,
  });
  return { ledger, here, log, measured, health };
}

Deno.test("watchHealth() raises an alarm in the log and clears it, where nobody is told", async () => {
  const { ledger, here, log, measured, health } = await watched();
  await using _ = ledger;
  const stop = new AbortController();
  const running = health.run(stop.signal);
  here.own = [found("ledger_refuses", { more: "The disk is full" })];
  await until(() => log.length === 1);
  here.own = [found("ledger_writable")];
  await until(() => log.length === 2);
  stop.abort();
  await running;
  assert.deepEqual(log, [
    "error alarm_raised ledger_refuses",
    "info alarm_cleared ledger_refuses",
  ]);
  assert.ok(
    measured.some((one) => one.some(({ code }) => code === "ledger_refuses")),
  );
});

Deno.test("watchHealth() tells every target, and a target that hangs holds nobody up", async () => {
  const told: string[] = [];
  const { ledger, here, health } = await watched({
    alarms: {
      targets: ["hangs", "breaks", "takes"].map((name) => ({
        name,
        shown: name,
        url: new URL(`http://127.0.0.1/${name}`),
        write: webhookSigner([SECRET]),
      })),
      post: {
        fetch: (url, { body }) => {
          const { type } = JSON.parse(String(body));
          if (url.endsWith("/hangs")) return new Promise(() => {});
          if (url.endsWith("/breaks")) {
            return Promise.reject(new TypeError("No"));
          }
          told.push(type);
          return Promise.resolve(new Response(null, { status: 204 }));
        },
      },
    },
  });
  await using _ = ledger;
  const stop = new AbortController();
  const running = health.run(stop.signal);
  here.own = [found("ledger_refuses")];
  await until(() => told.length === 1);
  here.own = [found("ledger_writable")];
  await until(() => told.length === 2);
  stop.abort();
  await running;
  assert.deepEqual(told, ["rampkit.alarm.raised", "rampkit.alarm.cleared"]);
});

Deno.test("watchHealth() tells a program of a problem and of its end, also one that throws", async () => {
  const problems: Problem[] = [];
  const { ledger, here, log, health } = await watched({
    onProblem: (problem) => {
      problems.push(problem);
      throw new Error("It does not want to know");
    },
  });
  await using _ = ledger;
  const stop = new AbortController();
  const running = health.run(stop.signal);
  here.own = [found("ledger_refuses", { facts: { bytes: 7 } })];
  await until(() => problems.length === 1);
  here.own = [found("ledger_writable")];
  await until(() => problems.length === 2);
  stop.abort();
  await running;
  const [raised, over] = problems;
  assert.deepEqual(
    [raised?.code, raised?.level, raised?.facts, over?.code, over?.level],
    ["ledger_refuses", "problem", { bytes: 7 }, "ledger_refuses", "fine"],
  );
  assert.equal(over?.since, raised?.since);
  assert.match(raised?.next ?? "", /rampkit doctor/);
  assert.deepEqual(log, []);
});

Deno.test("watchHealth() raises every alarm of what must ring, whether or not anybody is told", async () => {
  const codes = [
    "disk_nearly_full",
    "chain_broken",
    "backup_old",
    "backup_failing",
    "dead_letters",
    "receiver_off",
    "poll_failing",
    "poll_stalled",
    "delivery_suspected",
    "delivery_failing",
  ] as const;
  for (const code of codes) {
    const { ledger, here, log, health } = await watched();
    await using _ = ledger;
    const stop = new AbortController();
    here.own = [found(code, { about: "one" })];
    const running = health.run(stop.signal);
    await until(() => log.length > 0);
    stop.abort();
    await running;
    assert.ok(log.includes(`error alarm_raised ${code}`), `${code}: ${log}`);
  }
});
