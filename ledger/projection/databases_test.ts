import assert from "node:assert/strict";
import fc from "fast-check";
import { expectedStates, worlds } from "../testing/projection_test_kit.ts";
import { testEachDatabase } from "../testing/test_databases.ts";
import { verifySeals } from "../evidence/evidence.ts";
import { refold, verifyStates } from "./refold.ts";
import { ledgerOn } from "../ledger_on.ts";
import { append, prepared, projectAll, statesOf } from "../testing/fold_kit.ts";

testEachDatabase(
  "a ledger folds, seals and refolds alike in every database",
  async (database, { shared }) => {
    const all = fc.sample(worlds(200), { numRuns: 12, seed: 4301 }).flat();
    const events = [...new Map(all.map((one) => [one.eventId, one])).values()];
    const first = await prepared(await database.open());
    const second = shared ? await database.open() : first;
    for (let from = 0; from < events.length; from += 25) {
      await append(first, events.slice(from, from + 25));
      // Each process sees what the other has folded, also behind a replica.
      await projectAll(from % 50 === 0 ? first : second);
    }
    await projectAll(first);
    assert.deepEqual(await statesOf(first), expectedStates(events));
    const parts = { driver: first, assets: "sandbox" as const };
    const { changed, swapped } = await refold(parts);
    assert.deepEqual([changed, swapped], [0, true]);
    assert.equal((await verifyStates(parts)).ok, true);
    const { broken, events: sealed } = await verifySeals(second);
    assert.deepEqual([broken, sealed], [null, events.length]);
  },
);

testEachDatabase("a ledger opens again as what it is", async (database) => {
  const driver = await prepared(await database.open());
  const options = { environment: "sandbox", now: () => 0 } as const;
  const ledger = await ledgerOn(driver, options);
  assert.equal(ledger.environment, "sandbox");
  assert.equal((await ledger.verify()).ok, true);
  await assert.rejects(ledgerOn(driver, { environment: "production" }), {
    code: "wrong_environment",
  });
});
