import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { chainReading } from "../testing/mint.ts";
import type { WitnessRule } from "../../core/chain/verdict.ts";
import {
  at,
  expectedStates,
  orderRead,
  requirement,
  session,
  transaction,
} from "../testing/projection_test_kit.ts";
import {
  append,
  newLedger,
  projectAll,
  select,
  statesOf,
} from "../testing/fold_kit.ts";

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
  await using driver = await newLedger();
  for (const event of events) await append(driver, [event]);
  await projectAll(driver, { maxEvents });
  const log = await select(
    driver,
    `SELECT substr(code, 9) || ' ' || (more ->> 'reason') AS entered FROM log
      WHERE code LIKE 'release.%' ORDER BY seq`,
  );
  return {
    states: await statesOf(driver),
    log: log.map(({ entered }) => String(entered)),
  };
}

Deno.test("project() lets a success wait for the chain by the rule of its beginning, whatever the order and the batches", async () => {
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

Deno.test("project() moves no order that began before a rule, and takes the rule of the latest moment", async () => {
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
