import assert from "node:assert/strict";
import fc from "fast-check";
import { within } from "./waiting.ts";

const late = () => new Error("late");

/** Work that never ends by itself. */
function endless(): Promise<never> {
  return new Promise(() => {});
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

Deno.test("within() ends each of many at its own limit, whenever they begin", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ afterMs: fc.nat(40), limitMs: fc.nat(60) }), {
        minLength: 1,
        maxLength: 8,
      }),
      async (all) => {
        await Promise.all(all.map(async ({ afterMs, limitMs }) => {
          await pause(afterMs);
          const beganAt = performance.now();
          await assert.rejects(within(limitMs, undefined, late, endless), {
            message: "late",
          });
          const tookMs = performance.now() - beganAt;
          assert.ok(tookMs >= limitMs - 1, `${tookMs} of ${limitMs} ms`);
          assert.ok(tookMs < limitMs + 10_000, `${tookMs} of ${limitMs} ms`);
        }));
      },
    ),
    { numRuns: 8 },
  );
});

Deno.test("within() takes work that ends in time, and aborts what does not", async () => {
  assert.equal(
    await within(60_000, undefined, late, () => Promise.resolve(1)),
    1,
  );
  let reason: unknown;
  await assert.rejects(
    within(5, undefined, late, (signal) => {
      signal.addEventListener("abort", () => reason = signal.reason);
      return endless();
    }),
    { message: "late" },
  );
  assert.match(String(reason), /late/);
});

Deno.test("within() keeps a short limit beside a long one that began before", async () => {
  const stop = new AbortController();
  const long = within(600_000, stop.signal, late, endless);
  await assert.rejects(within(5, undefined, late, endless), {
    message: "late",
  });
  stop.abort(new Error("enough"));
  await assert.rejects(long, { message: "enough" });
});

Deno.test("within() ends a limit that passed while the thread was busy, though another began", async () => {
  const short = within(5, undefined, late, endless);
  const busyUntil = performance.now() + 20;
  while (performance.now() < busyUntil);
  const stop = new AbortController();
  const long = within(600_000, stop.signal, late, endless);
  await assert.rejects(short, { message: "late" });
  stop.abort(new Error("enough"));
  await assert.rejects(long, { message: "enough" });
});

Deno.test("within() takes limits beyond the longest timer", async () => {
  for (const limitMs of [2 ** 31, Infinity]) {
    await within(limitMs, undefined, late, () => pause(5));
  }
});
