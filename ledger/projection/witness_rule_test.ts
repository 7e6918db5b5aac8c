import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { chainReading } from "../events/mint.ts";
import type { WitnessRule } from "../../core/chain/witness_rule.ts";
import { appendStatement } from "../store/tables/events/append.ts";
import {
  at,
  emptyStore,
  expectedStates,
  liveStates,
  orderRead,
  requirement,
  session,
  transaction,
} from "../testing/projection_test_kit.ts";
import { Projector } from "./projector.ts";

const ORDER = "O1";

const asked = session(8, "S1", "C1", "10", "basket-1");
const success = orderRead(12, {
  orderId: ORDER,
  status: "success",
  click: "C1",
  created: 10,
  tx: "f1",
});
const seen = chainReading({
  looked: {
    order_id: ORDER,
    network: "bitcoin",
    asset: "BTC",
    type: "simple",
    tx_id: transaction("f1"),
    amount: "0.1",
    verdict: "delivered",
    final: true,
    nodes: ["own-1"],
  },
  readAt: at(14),
  recordedAt: at(14),
  salt: new Uint8Array(16),
});

/** Every order of some events. */
function* orders<Item>(items: readonly Item[]): Generator<Item[]> {
  if (items.length < 2) yield [...items];
  for (const [place, item] of items.entries()) {
    for (const rest of orders(items.toSpliced(place, 1))) {
      if (items.length >= 2) yield [item, ...rest];
    }
  }
}

/** Folds events in batches; the states, and what was logged of the release. */
async function folded(events: readonly NewEvent[], maxEvents: number) {
  const driver = await emptyStore();
  try {
    const projector = new Projector({ driver, assets: "sandbox", maxEvents });
    for (const event of events) {
      await driver.batch([appendStatement([event])], "write");
    }
    while ((await projector.step("live")).events > 0);
    const [log] = await driver.batch([{
      sql:
        "SELECT status, reason FROM transitions WHERE machine = 'release' ORDER BY seq",
      args: [],
    }], "read");
    return {
      states: await liveStates(driver),
      log: log?.rows.map(([status, reason]) => `${status} ${reason}`) ?? [],
    };
  } finally {
    await driver.close();
  }
}

Deno.test("Projector.step() lets a success wait for the chain by the rule of its beginning, whatever the order and the batches", async () => {
  const required = requirement(9, "all");
  const unseen = [asked, success, required];
  for (const events of [unseen, [...unseen, seen]]) {
    const last = events.includes(seen)
      ? "yes session_matched"
      : "wait witness_open";
    for (const some of orders(events)) {
      for (const maxEvents of [1, 9]) {
        const { states, log } = await folded(some, maxEvents);
        assert.deepEqual(states, expectedStates(events));
        // What the log says last is what the state says.
        assert.equal(log.at(-1)?.replace("restored", "yes"), last, `${log}`);
      }
    }
  }
});

Deno.test("Projector.step() moves no order that began before a rule, and takes the rule of the latest moment", async () => {
  const releaseBy = async (...rules: readonly [number, WitnessRule][]) => {
    const made = rules.map(([minute, rule]) => requirement(minute, rule));
    const { log } = await folded([asked, ...made, success], 9);
    return log.at(-1);
  };
  assert.equal(await releaseBy([11, "all"]), "yes session_matched");
  assert.equal(await releaseBy([10, "all"]), "wait witness_open");
  assert.equal(await releaseBy([7, "all"], [9, "off"]), "yes session_matched");
  assert.equal(await releaseBy([7, "all"], [11, "off"]), "wait witness_open");
});
