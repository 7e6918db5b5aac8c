import assert from "node:assert/strict";
import fc from "fast-check";
import { Random } from "./random.ts";
import { Factory, seededUlid, seededUuid } from "./factory.ts";

const draw = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.uint32());

Deno.test("Random gives the same stream for the same seed and name", () => {
  fc.assert(fc.property(fc.integer(), fc.string(), (seed, name) => {
    assert.deepEqual(
      draw(new Random(seed).fork(name), 5),
      draw(new Random(seed).fork(name), 5),
    );
  }));
});

Deno.test("Random gives different streams for close seeds and other names", () => {
  const streams = new Set<string>();
  for (let seed = 0; seed < 500; seed++) {
    streams.add(draw(new Random(seed), 3).join());
    streams.add(draw(new Random(seed).fork("a"), 3).join());
    streams.add(draw(new Random(seed).fork("b"), 3).join());
  }
  assert.equal(streams.size, 1_500);
});

Deno.test("fork() does not depend on what was drawn before", () => {
  const used = new Random(3);
  draw(used, 100);
  assert.deepEqual(draw(used.fork("x"), 3), draw(new Random(3).fork("x"), 3));
});

Deno.test("unit() and int() fill their ranges evenly", () => {
  const random = new Random(11);
  const counts = new Array<number>(10).fill(0);
  for (let count = 0; count < 20_000; count++) {
    const value = random.int(0, 9);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  for (const count of counts) assert.ok(count > 1_800 && count < 2_200);
});

Deno.test("chance() strikes at its rate", () => {
  const random = new Random(5);
  let hits = 0;
  for (let count = 0; count < 20_000; count++) if (random.chance(0.3)) hits++;
  assert.ok(hits > 5_700 && hits < 6_300, String(hits));
  assert.equal(random.chance(0), false);
  assert.equal(random.chance(1), true);
});

Deno.test("pick() refuses an empty list", () => {
  assert.throws(() => new Random(1).pick([]), RangeError);
});

Deno.test("seededUlid() sorts by time and keeps it readable", () => {
  const random = new Random(1);
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 2 ** 45 }),
    fc.integer({ min: 1, max: 10_000 }),
    (time, later) => {
      const [a, b] = [
        seededUlid(time, random),
        seededUlid(time + later, random),
      ];
      assert.match(a, /^[0-9A-HJKMNP-TV-Z]{26}$/);
      assert.ok(a < b);
    },
  ));
});

Deno.test("Factory gives ids in the service's shapes", () => {
  const random = new Random(2);
  const factory = new Factory(random, "sandbox");
  const user = factory.user({}, 0);
  for (let count = 0; count < 50; count++) {
    assert.match(
      seededUuid(random),
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    const { externalOrderId } = factory.order({}, user, 0);
    assert.match(externalOrderId, /^[2-9A-HJ-NP-Z]{6}$/);
  }
});
