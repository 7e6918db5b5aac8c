import assert from "node:assert/strict";
import { RETRY_DELAYS_MS } from "../core/waiting/waiting.ts";
import fc from "fast-check";
import { createSandbox } from "./create_sandbox.ts";
import { virtualClock } from "./clock.ts";
import { DISABLE_RULES, type SandboxDelivery } from "./sandbox.ts";

const HOUR = 3_600_000;
const rate = fc.constantFrom(0, 0, 0.2, 0.6);

const day = fc.record({
  seed: fc.nat(),
  disableRule: fc.constantFrom(...DISABLE_RULES),
  refused: rate,
  outageHours: fc.constantFrom(0, 1, 9, 20),
  faults: fc.record({
    drop: rate,
    duplicate: rate,
    delay: rate,
    reorder: rate,
    forge: rate,
    unknownType: rate,
    malformed: rate,
    answerLost: rate,
    requestLost: rate,
  }),
});

/** A day on which an event fails while another one has just been received. */
const SWITCHED_OFF = {
  seed: 428504104,
  disableRule: "first_failure",
  refused: 0,
  outageHours: 0,
  faults: {
    drop: 0.2,
    duplicate: 0.6,
    delay: 0,
    reorder: 0,
    forge: 0,
    unknownType: 0.2,
    malformed: 0,
    answerLost: 0.2,
    requestLost: 0,
  },
} as const;

/** Attempts the ladder knows of. */
const climbed = (delivery: SandboxDelivery) =>
  delivery.attempts.filter((attempt) => !attempt.copy);

Deno.test("deliveries() agrees with counters and retry schedule after any day of faults", async () => {
  await fc.assert(
    fc.asyncProperty(day, async ({ seed, disableRule, ...rest }) => {
      const clock = virtualClock(0, { turns: 1 });
      let heard = 0;
      const sandbox = createSandbox({
        seed,
        clock,
        disableRule,
        webhookUrl: "http://partner/hook",
        fetch: () => {
          heard++;
          const status = (heard * 37 % 100) / 100 < rest.refused ? 500 : 204;
          return Promise.resolve(new Response(null, { status }));
        },
        faults: {
          ...rest.faults,
          endpointDownSpans: rest.outageHours === 0
            ? []
            : [{ fromMs: HOUR, untilMs: HOUR * (1 + rest.outageHours) }],
        },
      });
      void sandbox.populate({ orders: 8, spanMs: 2 * HOUR });
      await clock.advance(5 * HOUR);
      sandbox.enableDelivery();
      await clock.advance(40 * HOUR);
      await sandbox.idle();
      assert.equal(clock.pendingTimers, 0);

      const log = sandbox.deliveries();
      const { counters } = sandbox;
      const count = (keep: (one: SandboxDelivery) => boolean) =>
        log.filter(keep).length;
      assert.equal(count(({ state }) => state === "pending"), 0);
      assert.equal(count(({ state }) => state === "dropped"), counters.dropped);
      assert.equal(count(({ state }) => state === "notSent"), counters.notSent);
      assert.equal(
        count(({ state }) => state === "received"),
        counters.received,
      );
      assert.equal(count((one) => one.malformed), counters.malformed);
      assert.equal(count(({ cause }) => cause === "forged"), counters.forged);
      assert.equal(count(({ cause }) => cause === "life"), counters.events);
      const attempts = log.flatMap((one) => one.attempts);
      assert.equal(attempts.length, counters.attempts);
      assert.equal(
        attempts.filter((one) => one.truth.reached).length,
        heard,
      );
      assert.equal(heard, counters.attempts - counters.requestsLost);

      for (const delivery of log) {
        const tries = climbed(delivery);
        const last = tries.at(-1);
        const good = last !== undefined && last.status >= 200 &&
          last.status < 300;
        assert.equal(delivery.state === "received", good);
        for (const one of tries.slice(0, -1)) assert.notEqual(one.status, 204);
        if (delivery.cause === "forged") assert.ok(tries.length <= 1);
        tries.slice(1).forEach((one, index) => {
          const from = disableRule === "ladder_from_first"
            ? tries[0]
            : tries[index];
          assert.equal(
            one.atMs - (from?.atMs ?? 0),
            RETRY_DELAYS_MS[index],
          );
        });
        if (disableRule === "first_failure") assert.ok(tries.length <= 1);
      }
      await sandbox.close();
    }),
    // Delivery is switched off in the moment in which another answer has come.
    { numRuns: 60, examples: [[SWITCHED_OFF]] },
  );
});
