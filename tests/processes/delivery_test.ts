import assert from "node:assert/strict";
import type { Ledger } from "../../ledger/mod.ts";
import {
  createSandbox,
  type DisableRule,
  type VirtualClock,
  virtualClock,
} from "../../sandbox/mod.ts";
import {
  type AppendDelivery,
  fileSpool,
  type Spool,
  spoolMover,
  webhookEndpoint,
} from "../../webhooks/mod.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const SECRET = "the-secret-in-the-webhook-address";
const URL_OF_ENDPOINT = `http://partner/webhooks/${SECRET}`;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = Date.UTC(2026, 10, 20, 9);

/** A service and an endpoint on one virtual clock. */
async function meet(options: {
  readonly disableRule: DisableRule;
  /** Whether requests reach the endpoint at a time. */
  readonly reachable?: (nowMs: number) => boolean;
  /** Stands between endpoint and ledger. */
  readonly store?: (
    append: AppendDelivery,
    clock: VirtualClock,
  ) => AppendDelivery;
  /** Stored in first, and moved to the ledger while that is well. */
  readonly spool?: Spool;
  readonly isWell?: (nowMs: number) => boolean;
}) {
  const clock = virtualClock(START_MS);
  const ledger = await emptyLedger({
    now: () => clock.now(),
  });
  const { spool, isWell } = options;
  const append = spool?.put ?? ledger.appendDelivery;
  const mover = spool && spoolMover({
    spool,
    take: (records) =>
      isWell?.(clock.now()) === false
        ? Promise.reject(new Error("Database is locked"))
        : ledger.appendRecords(records),
  });
  const endpoint = webhookEndpoint({
    append: options.store?.(append, clock) ?? append,
    unanswered: spool?.note ?? ledger.recordUnanswered,
    secrets: [SECRET],
    now: () => clock.now(),
  });
  const sandbox = createSandbox({
    clock,
    disableRule: options.disableRule,
    webhookUrl: URL_OF_ENDPOINT,
    fetch: (input, init) => {
      if (options.reachable?.(clock.now()) === false) {
        return Promise.reject(new TypeError("Connection refused"));
      }
      return clock.work(endpoint(new Request(input, init)));
    },
  });
  return {
    clock,
    ledger,
    endpoint,
    sandbox,
    mover,
    [Symbol.asyncDispose]: async () => {
      await sandbox.close();
      await endpoint.drain();
      await mover?.stop();
      await ledger.close();
    },
  };
}

async function storedBodies(ledger: Ledger): Promise<string[]> {
  const [rows] = await ledger.driver.batch([{
    sql: "SELECT body FROM events WHERE kind = 'webhook' ORDER BY position",
    args: [],
  }], "read");
  return (rows?.rows ?? []).map(([body]) =>
    new TextDecoder().decode(body as Uint8Array)
  );
}

for (
  const disableRule of [
    "first_failure",
    "ladder_from_first",
    "ladder_from_previous",
  ] as const
) {
  Deno.test(`delivery stays on through hours of a failing ledger, because the spool answers (${disableRule})`, async () => {
    await using directory = await temporaryFolder();
    const spool = await fileSpool({ directory: directory.path });
    try {
      await using met = await meet({
        disableRule,
        spool,
        // Two hours in three the ledger takes nothing.
        isWell: (nowMs) => Math.floor((nowMs - START_MS) / HOUR_MS) % 3 === 2,
      });
      const { clock, sandbox, ledger, endpoint, mover } = met;
      const lives = sandbox.populate({ orders: 25, spanMs: 20 * HOUR_MS });
      await clock.advance(30 * HOUR_MS);
      await lives;
      assert.equal(sandbox.delivery.state, "enabled");
      assert.equal(sandbox.counters.failedAttempts, 0);
      // The ledger is well from now on, and what was spooled goes in.
      await clock.advance(2 * HOUR_MS);
      await endpoint.drain();
      await mover?.stop();
      assert.equal(spool.depth, 0);
      assert.deepEqual(
        (await storedBodies(ledger)).sort(),
        sandbox.deliveries().map(({ body }) => body).sort(),
      );
    } finally {
      await spool.close();
    }
  });
}

for (
  const [disableRule, goneMs, survives] of [
    ["ladder_from_first", 7 * HOUR_MS, true],
    ["ladder_from_first", 9 * HOUR_MS, false],
    ["ladder_from_previous", 15 * HOUR_MS, true],
    ["ladder_from_previous", 16 * HOUR_MS, false],
  ] as const
) {
  const hours = goneMs / HOUR_MS;
  Deno.test(`delivery ${survives ? "survives" : "ends after"} ${hours} h without an endpoint (${disableRule})`, async () => {
    await using met = await meet({
      disableRule,
      reachable: (nowMs) => nowMs >= START_MS + goneMs,
    });
    const { clock, sandbox, ledger } = met;
    const { userId } = sandbox.createUser({ lkyc: "success" });
    sandbox.advanceUser(userId, "login");
    await clock.advance(24 * HOUR_MS);
    assert.equal(sandbox.delivery.state, survives ? "enabled" : "disabled");
    assert.equal((await storedBodies(ledger)).length, survives ? 1 : 0);
  });
}

Deno.test("ledger.occurrences() is never silently wrong about repeats, held against what the sender knows", async () => {
  let retries = 0;
  let doubtful = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const refused = new Set<string>();
    await using met = await meet({
      disableRule: seed % 2 === 0
        ? "ladder_from_first"
        : "ladder_from_previous",
      // Now and then a delivery is stored, and its answer is 503 all the same.
      store: (append) => {
        let count = 0;
        return async (delivery) => {
          await append(delivery);
          if (count++ % 5 === 4 || refused.has(delivery.id)) {
            refused.add(delivery.id);
            throw new Error("The commit's answer was lost");
          }
        };
      },
    });
    const { clock, sandbox, ledger, endpoint } = met;
    // Our 2xx is lost on the way back: the ledger believes it answered.
    sandbox.setFaults({ answerLost: seed % 3 === 0 ? 0.2 : 0 });
    const { userId } = sandbox.createUser({ lkyc: "success" });
    // Logins of one user are byte-identical; some come at a rung of the ladder.
    const gaps = [3, 5, 17, 60, 5, 31, 120, 90, 60, 5, 45, 240];
    for (let login = 0; login < gaps.length; login++) {
      sandbox.advanceUser(userId, "login");
      const gap = gaps[(login * seed) % gaps.length] ?? 1;
      await clock.advance(gap * MINUTE_MS + seed * 1000);
    }
    await clock.advance(20 * HOUR_MS);
    await endpoint.drain();
    await ledger.project();

    const truth = sandbox.deliveries().filter(({ attempts }) =>
      attempts.some((attempt) =>
        attempt.truth.reached
      )
    ).length;
    const [first] = await ledger.driver.batch([{
      sql: "SELECT id FROM events WHERE kind = 'webhook' LIMIT 1",
      args: [],
    }], "read");
    const found = await ledger.occurrences(String(first?.rows[0]?.[0]));
    const count = (as: string) => found.filter((one) => one.as === as).length;
    assert.equal(found.length, (await storedBodies(ledger)).length);
    const sure = count("occurrence");
    const most = sure + count("possibleRepeat");
    assert.ok(
      sure <= truth && truth <= most,
      `seed ${seed}: ${truth} logins, told as ${sure} to ${most}`,
    );
    retries += count("retry");
    doubtful += count("possibleRepeat");
  }
  assert.ok(retries > 0, "some repeats must be recognised");
  assert.ok(doubtful > 0, "some must stay in doubt");
});
