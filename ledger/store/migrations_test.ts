import assert from "node:assert/strict";
import { Subscriptions } from "../subscriptions/subscriptions.ts";
import { openDriver } from "./driver/open_driver.ts";
import { migrate, type Migration } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { readTransitions } from "./tables/transitions.ts";

Deno.test("migrations keep the log of transitions, its places, and what is queued", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const to = (steps: readonly Migration[]) =>
    migrate(driver, { migrations: steps, environment: "test", now: Date.now });
  await to(migrations.slice(0, 1));
  const run = (sql: string) => driver.batch([{ sql, args: [] }], "write");
  await run(`INSERT INTO transitions VALUES
    (3, 'order', 'O1', 'confirmed', 'success', 7, 't1', 1),
    (9, 'user', 'U1', 'confirmed', 'success', 8, 't2', 0)`);
  await run(`INSERT INTO queued_transitions VALUES
    ('s', 3, 'order', 'O1', 'confirmed', 'success', 7, 't1', 'dead', 2, '', 'e'),
    ('s', 9, 'user', 'U1', 'confirmed', 'success', 8, 't2', 'dead', 2, '', 'e')`);
  await to(migrations);

  const kept = await readTransitions(driver);
  assert.deepEqual(kept, [{
    key: "order:O1:confirmed.success",
    entity: "order",
    machine: "order",
    id: "O1",
    trust: "confirmed",
    status: "success",
    entry: 1,
    previous: null,
    reverses: [],
    position: 7,
    recordedAt: "t1",
    seq: 3,
    live: true,
  }, {
    ...kept[0],
    key: "user:U1:confirmed.success",
    entity: "user",
    machine: "user",
    id: "U1",
    position: 8,
    recordedAt: "t2",
    seq: 9,
    live: false,
  }]);
  const subscriptions = new Subscriptions(driver, Date.now);
  const dead = await subscriptions.deadLetters("s");
  assert.deepEqual(
    dead.map(({ transition }) => transition),
    kept.map((one) => ({ ...one, live: true })),
  );
  for (const { key } of kept) {
    assert.equal(await subscriptions.drop("s", `${key}x`), 0);
    assert.equal(await subscriptions.drop("s", key), 1);
  }
  await run(`INSERT INTO transitions (entity, entity_id, machine, trust, status,
      entry, reverses, position, recorded_at, live)
    VALUES ('order', 'O2', 'order', 'confirmed', 'failed', 1, '[]', 9, 't3', 1)`);
  assert.equal((await readTransitions(driver)).at(-1)?.seq, 10);
  await driver.close();
});
