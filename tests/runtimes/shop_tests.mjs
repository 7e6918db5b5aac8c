/** A partner's own tests, for a runner whose `test` it is given. */
import { testShop } from "@rampkit/onramp/testing";
import assert from "node:assert/strict";
import process from "node:process";

const SEEDS = Number(process.env.CHAOS_SEEDS ?? 3);

/** A shop whose handler ships once what is released. */
async function openShop() {
  const shipped = [];
  const done = new Set();
  const shop = await testShop({
    on: {
      "order.release.yes": (_, { reference, release }) => {
        if (release !== "yes" || done.has(reference)) return;
        done.add(reference);
        shipped.push(reference);
      },
    },
  });
  return { shop, shipped };
}

async function sellsOne() {
  const { shop, shipped } = await openShop();
  const sale = await shop.sell({ reference: "basket-1" });
  await shop.pay(sale);
  await shop.settle();
  assert.deepEqual(shipped, ["basket-1"]);
  await shop.close();
}

// deno-lint-ignore explicit-module-boundary-types -- JavaScript states none.
export function shopTests(test) {
  test("what was paid is shipped once", sellsOne);

  test("a claw-back, a short payment and a forgery ship nothing", async () => {
    const { shop, shipped } = await openShop();
    await shop.pay(await shop.sell(), { amount: "4.99" });
    await shop.forge(await shop.sell());
    await shop.settle();
    assert.deepEqual(shipped, []);
    const [told = {}, ...others] = shop.problems;
    assert.match(told.message, /paid 4\.99 of 50\.00 USD, basket-1$/);
    assert.deepEqual(others, []);
    await shop.close();
  });

  test("chaos passes", async () => {
    const { shop, shipped } = await openShop();
    const { seeds } = await shop.chaos({
      seeds: SEEDS,
      effects: () => shipped,
    });
    assert.equal(seeds, SEEDS);
    await shop.close();
  });

  test("how long a test takes", async () => {
    const tookMs = [];
    for (let run = 0; run < 40; run++) {
      const begun = performance.now();
      await sellsOne();
      tookMs.push(performance.now() - begun);
    }
    tookMs.splice(0, 10); // Compiled by then.
    tookMs.sort((a, b) => a - b);
    const [least, median] = [tookMs[0], tookMs[15]].map((ms) => ms.toFixed(1));
    console.log(`a test took ${least} ms at least, ${median} ms in the median`);
  });
}
