import assert from "node:assert/strict";
import { NO_METER } from "../core/telemetry/meter.ts";
import type { BodyClasses } from "../core/webhook_event/classify_body.ts";
import { readRecords } from "../core/wire/delivery_records.ts";
import {
  type Delivery,
  fileSpool,
  type Spool,
  type SpoolMover,
  spoolMover,
  type Waiting,
  type WebhookLogEntry,
} from "./mod.ts";
import { until } from "../tests/kit/until.ts";

interface Moved {
  readonly spool: Spool;
  /** Starts a mover. */
  readonly start: (tidyEveryMs?: number) => SpoolMover;
  /** Ids that the ledger took, in order. */
  readonly taken: string[];
  readonly log: WebhookLogEntry[];
  /** What its counters count, by name and labels. */
  readonly counted: Record<string, number>;
  /** What was told to wait, in order. */
  readonly told: (Waiting | null)[];
  /** How the ledger is. */
  readonly ledger: { fails: boolean; calls: number; classes?: BodyClasses };
}

/** A spool, and a ledger that it is moved to, for as long as `work` takes. */
async function moved(work: (moved: Moved) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  const spool = await fileSpool({ directory });
  const taken: string[] = [];
  const log: WebhookLogEntry[] = [];
  const counted: Moved["counted"] = {};
  const told: Moved["told"] = [];
  const ledger: Moved["ledger"] = { fails: false, calls: 0 };
  const movers: SpoolMover[] = [];
  const start = (tidyEveryMs = 5000): SpoolMover => {
    const mover = spoolMover({
      spool,
      tidyEveryMs,
      reportWaiting: (waiting) => {
        told.push(waiting);
        return Promise.resolve();
      },
      log: (entry) => log.push(entry),
      meter: {
        ...NO_METER,
        createCounter: (name) => ({
          add: (value, labels) => {
            const key = labels ? `${name} ${JSON.stringify(labels)}` : name;
            counted[key] = (counted[key] ?? 0) + value;
          },
        }),
      },
      take: (records) => {
        ledger.calls++;
        if (ledger.fails) return Promise.reject(new Error("It is locked"));
        taken.push(...readRecords(records).map(({ id }) => id));
        return Promise.resolve(ledger.classes);
      },
    });
    movers.push(mover);
    return mover;
  };
  try {
    await work({ spool, start, taken, log, counted, told, ledger });
  } finally {
    for (const mover of movers) await mover.stop();
    await spool.close();
    await Deno.remove(directory, { recursive: true });
  }
}

function delivery(n: number): Delivery {
  return {
    id: String(n).padStart(26, "0"),
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode("{}"),
  };
}

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => delivery(n).id);

Deno.test("spoolMover() moves what was left, and what comes, in order", () =>
  moved(async ({ spool, start, taken, log }) => {
    for (let n = 0; n < 3; n++) await spool.put(delivery(n));
    const mover = start();
    await mover.settled();
    assert.deepEqual(taken, ids(3));
    for (let n = 3; n < 6; n++) {
      await spool.put(delivery(n));
      await mover.settled();
      assert.equal(taken.length, n + 1);
    }
    assert.deepEqual(taken, ids(6));
    assert.equal(spool.depth, 0);
    // Only what waited is worth a line.
    assert.deepEqual(log.map(({ code, count }) => [code, count]), [
      ["spool_drained", 3],
    ]);
  }));

Deno.test("spoolMover() tries a failing ledger again, and says so", () =>
  moved(async ({ spool, start, taken, log, ledger }) => {
    ledger.fails = true;
    const mover = start();
    for (let n = 0; n < 20; n++) await spool.put(delivery(n));
    await until(() => ledger.calls >= 3);
    assert.equal(mover.failure, "It is locked");
    assert.equal(spool.depth, 20);
    ledger.fails = false;
    await mover.settled();
    assert.deepEqual(taken, ids(20));
    assert.equal(mover.failure, null);
    assert.deepEqual(log.map(({ code }) => code), [
      "append_failing",
      "append_recovered",
      "spool_drained",
    ]);
    assert.equal(log[0]?.detail, "It is locked");
  }));

Deno.test("spoolMover() moves on where the spool cannot be tidied, and says so once", () =>
  moved(async ({ spool, start, taken, log }) => {
    let tidied = 0;
    spool.tidy = () => {
      tidied++;
      return Promise.reject(new Error("Cannot claim a.spool: EACCES"));
    };
    start(20);
    await until(() => tidied >= 2);
    await spool.put(delivery(0));
    await until(() => taken.length === 1);
    await until(() => tidied >= 4);
    assert.deepEqual(
      log.filter(({ level }) => level === "error").map((
        { code, detail },
      ) => [code, detail]),
      [["spool_untidied", "Cannot claim a.spool: EACCES"]],
    );
  }));

Deno.test("spoolMover() counts and logs what the ledger says that the bodies are", () =>
  moved(async ({ spool, start, log, ledger, counted }) => {
    ledger.classes = {
      counts: { login: 3, other: 1, quarantined: 2 },
      odd: [
        { deliveryId: "a", type: "quarantined", why: "It is not JSON" },
        { deliveryId: "b", type: "other", why: "Unknown type: x" },
      ],
    };
    const mover = start();
    // What it finds when it starts is told as drained.
    await mover.settled();
    await spool.put(delivery(0));
    await mover.settled();
    assert.deepEqual(counted, {
      'rampkit.webhook.bodies {"type":"login"}': 3,
      'rampkit.webhook.bodies {"type":"other"}': 1,
      'rampkit.webhook.bodies {"type":"quarantined"}': 2,
      "rampkit.webhook.quarantined": 2,
    });
    assert.deepEqual(
      log.map(({ code, deliveryId, detail }) => [code, deliveryId, detail]),
      [
        ["quarantined", "a", "It is not JSON"],
        ["unrecognised", "b", "Unknown type: x"],
      ],
    );
  }));

Deno.test("spoolMover() takes many that come at once in few groups", () =>
  moved(async ({ spool, start, taken, ledger }) => {
    const mover = start();
    await mover.settled();
    await Promise.all(
      Array.from({ length: 3_000 }, (_, n) => spool.put(delivery(n))),
    );
    await mover.settled();
    assert.deepEqual(taken, ids(3_000));
    assert(ledger.calls <= 10, `${ledger.calls} groups`);
  }));

Deno.test("spoolMover() tells what still waits after a group, and when nothing does", () =>
  moved(async ({ spool, start, told }) => {
    await Promise.all(
      Array.from({ length: 3_000 }, (_, n) => spool.put(delivery(n))),
    );
    const oldestMs = Date.parse(delivery(0).receivedAt);
    const mover = start();
    await mover.settled();
    await mover.stop();
    const { count = 0 } = told[0] ?? {};
    assert.ok(count < 3_000 && count >= 3_000 - 1_024, `${count}`);
    assert.equal(told[0]?.oldestMs, oldestMs);
    assert.equal(told.at(-1), null);
  }));

Deno.test("spoolMover() tells nothing of deliveries that come alone", () =>
  moved(async ({ spool, start, told }) => {
    const mover = start();
    for (let n = 0; n < 3; n++) {
      await spool.put(delivery(n));
      await mover.settled();
    }
    await mover.stop();
    assert.deepEqual(told, [null]);
  }));

Deno.test("SpoolMover.stop() tells what it leaves", () =>
  moved(async ({ spool, start, ledger, told }) => {
    ledger.fails = true;
    const mover = start();
    for (let n = 0; n < 3; n++) await spool.put(delivery(n));
    await mover.stop();
    assert.equal(told.at(-1)?.count, 3);
    ledger.fails = false;
    await start().settled();
  }));

Deno.test("SpoolMover.stop() tries a failing ledger a last time", () =>
  moved(async ({ spool, start, taken, ledger }) => {
    ledger.fails = true;
    const mover = start();
    for (let n = 0; n < 3; n++) await spool.put(delivery(n));
    await until(() => ledger.calls >= 4);
    ledger.fails = false;
    await mover.stop();
    assert.deepEqual(taken, ids(3));
  }));

Deno.test("SpoolMover.stop() leaves in the spool what a failing ledger refuses", () =>
  moved(async ({ spool, start, ledger }) => {
    ledger.fails = true;
    const mover = start();
    for (let n = 0; n < 3; n++) await spool.put(delivery(n));
    await mover.stop();
    const { calls } = ledger;
    assert.equal(spool.depth, 3);
    ledger.fails = false;
    await spool.put(delivery(3));
    await new Promise((resolve) => setTimeout(resolve, 120));
    assert.equal(ledger.calls, calls, "nothing happens after stop()");
    assert.equal(spool.depth, 4);
  }));

Deno.test("SpoolMover.stop() does not wait for ever", async () => {
  const directory = await Deno.makeTempDir();
  const spool = await fileSpool({ directory });
  const { promise, reject } = Promise.withResolvers<void>();
  const mover = spoolMover({ spool, take: () => promise });
  await spool.put(delivery(0));
  await mover.stop({ timeoutMs: 20 });
  reject(new Error("At last"));
  await spool.close();
  await Deno.remove(directory, { recursive: true });
});
