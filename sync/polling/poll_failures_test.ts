import assert from "node:assert/strict";
import { NetworkError, ServiceError, TimeoutError } from "../../client/mod.ts";
import { LedgerError } from "../../ledger/mod.ts";
import { takeLease } from "../../ledger/for_sync.ts";
import {
  ledgerFor,
  moving,
  pollerFor,
  service,
  startMs,
} from "../testing/polling_test_kit.ts";
import { PollError } from "../recording/recorder.ts";
import {
  pollAlarm,
  type PollAlert,
  pollFailureCause,
  PollFailures,
  readPollHealth,
} from "./poll_health.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const minute = 60_000;

async function failures(alerts: PollAlert[]) {
  const ledger = await emptyLedger();
  const clock = { ms: startMs };
  const make = () =>
    new PollFailures({
      ledger,
      now: () => clock.ms,
      onPollAlert: (alert) => alerts.push(alert),
    });
  return {
    ledger,
    clock,
    make,
    [Symbol.asyncDispose]: () => ledger.close(),
  };
}

Deno.test("PollFailures.stepped() keeps the first answer at once: a poller that is killed has asked", async () => {
  const made = await failures([]);
  await using ledger = made.ledger;
  await made.make().stepped();
  const { workedAt } = await readPollHealth(ledger.driver);
  assert.equal(workedAt, new Date(startMs).toISOString());
});

Deno.test("pollFailureCause() tells a timeout from a refusal and from our own faults", () => {
  const error = (name: string) => Object.assign(new Error("x"), { name });
  for (
    const [thrown, cause] of [
      [new ServiceError("x", { status: 500 }), "service_error"],
      [new TimeoutError("x", { code: "timeout" }), "timeout"],
      [new NetworkError("x"), "network"],
      [
        new NetworkError("No: its certificate has expired; try again later"),
        "certificate",
      ],
      [new PollError("lease_lost", "x"), "lease_lost"],
      [new LedgerError("busy", "x"), "ledger"],
      [error("AuthenticationError"), "wrong_key"],
      [error("PermissionError"), "refused"],
      [error("RateLimitError"), "rate_limited"],
      [error("ResponseError"), "bad_answer"],
      [error("ValidationError"), "bad_request"],
      [error("TypeError"), "other"],
      ["text", "other"],
    ] as const
  ) assert.equal(pollFailureCause(thrown), cause, String(thrown));
});

Deno.test("PollFailures reports once when sweeps fail, and once when all work again", async () => {
  const alerts: PollAlert[] = [];
  await using all = await failures(alerts);
  const polling = all.make();
  const fail = async (sweep: "new" | "deep") => {
    all.clock.ms += 1000;
    await polling.failed(sweep, new NetworkError("Gone"));
  };
  await fail("new");
  assert.equal(alerts.length, 0, "one failure may be chance");
  for (let n = 0; n < 20; n++) await fail("new");
  await fail("deep");
  await fail("deep");
  assert.equal(alerts.length, 1);
  const [alert] = alerts;
  assert.ok(alert?.kind === "failing");
  assert.equal(alert.failure.attempts, 2);
  assert.equal(alert.failure.since, new Date(startMs + 1000).toISOString());
  assert.equal(
    alert.failure.nextAttemptAt,
    new Date(startMs + 4000).toISOString(),
  );

  const stored = pollAlarm(await readPollHealth(all.ledger.driver));
  assert.equal(stored?.sweep, "new");
  assert.equal(stored?.attempts, 21, "another process sees the latest");
  await polling.worked("new");
  assert.equal(alerts.length, 1, "the deep sweep still fails");
  await polling.worked("deep");
  assert.deepEqual(alerts[1], {
    kind: "recovered",
    since: new Date(startMs + 1000).toISOString(),
  });
  assert.equal(pollAlarm(await readPollHealth(all.ledger.driver)), null);
});

Deno.test("PollFailures reports at once what took the whole deadline, or what repeating never mends", async () => {
  for (
    const error of [
      new TimeoutError("x", { code: "timeout" }),
      new NetworkError("No: its certificate has expired; try again later"),
    ]
  ) {
    const alerts: PollAlert[] = [];
    await using all = await failures(alerts);
    await all.make().failed("new", error);
    assert.deepEqual(alerts.map(({ kind }) => kind), ["failing"]);
    assert.ok(pollAlarm(await readPollHealth(all.ledger.driver)) !== null);
  }
});

Deno.test("PollFailures knows since when polling fails after a restart", async () => {
  const alerts: PollAlert[] = [];
  await using all = await failures(alerts);
  const before = all.make();
  await before.failed("new", new NetworkError("Gone"));
  await before.failed("new", new NetworkError("Gone"));
  all.clock.ms += minute;
  const after = all.make();
  await after.load();
  await after.failed("new", new NetworkError("Gone"));
  assert.equal(alerts.length, 2, "a new process tells it once more");
  await after.worked("new");
  assert.deepEqual(alerts[2], {
    kind: "recovered",
    since: new Date(startMs).toISOString(),
  });
});

Deno.test("run() tells that the lease is lost again and again", async () => {
  await using box = service();
  box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  const alerts: PollAlert[] = [];
  const stop = new AbortController();
  const running = pollerFor(box, ledger, {
    holder: "the same name",
    watchEveryMs: 1000,
    onPollAlert: (alert) => alerts.push(alert),
  }).run(stop.signal);
  // Another process that was given the same name.
  for (let n = 0; n < 5; n++) {
    await takeLease(ledger.driver, {
      name: "poll",
      holder: "the same name",
      leaseMs: 30_000,
    });
    await moving(box.clock.sleep(20_000), box.clock);
  }
  const [alert] = alerts;
  assert.ok(alert?.kind === "failing", JSON.stringify(alerts));
  assert.equal(alert.failure.sweep, "poller");
  assert.equal(alert.failure.cause, "lease_lost");
  await moving(box.clock.sleep(3 * minute), box.clock);
  assert.deepEqual(alerts.map(({ kind }) => kind), ["failing", "recovered"]);
  stop.abort();
  await moving(running, box.clock);
});

Deno.test("run() says that polling works again as soon as a sweep has, where the database had failed", async () => {
  await using box = service();
  box.sandbox.createOrder();
  await using ledger = await ledgerFor(box);
  const before = new PollFailures({ ledger, now: () => startMs });
  for (let tries = 0; tries < 3; tries++) {
    await before.failed("poller", new LedgerError("busy", "x"));
  }
  assert.equal((await readPollHealth(ledger.driver)).failures.length, 1);
  const stop = new AbortController();
  const running = pollerFor(box, ledger).run(stop.signal);
  await moving(box.clock.sleep(10_000), box.clock);
  assert.deepEqual((await readPollHealth(ledger.driver)).failures, []);
  stop.abort();
  await moving(running, box.clock);
});
