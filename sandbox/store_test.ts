import assert from "node:assert/strict";
import fc from "fast-check";
import { createSandbox } from "./create_sandbox.ts";
import { type Place, Store } from "./store.ts";
import { UserStore } from "./orders_and_users.ts";
import type { SandboxUser } from "./sandbox.ts";

Deno.test("Store keeps the order of (time, id) and returns exact windows", () => {
  const row = fc.record({
    timeMs: fc.integer({ min: 0, max: 20 }),
    id: fc.string({ minLength: 1, maxLength: 3 }),
  });
  fc.assert(fc.property(
    fc.uniqueArray(row, { selector: (one) => one.id }),
    fc.integer({ min: -1, max: 21 }),
    fc.integer({ min: -1, max: 21 }),
    (rows, afterMs, upToMs) => {
      const store = new Store<Place>("row", (row) => row);
      for (const row of rows) store.put(row);
      const expected = [...rows].sort((a, b) =>
        a.timeMs - b.timeMs || (a.id < b.id ? -1 : 1)
      );
      const query = {
        ...{ limit: 1_000, offset: 0, cursorId: "", ascending: true },
        ...{ afterMs, upToMs, filters: [] },
      };
      const within = expected.filter(({ timeMs }) =>
        timeMs > afterMs && timeMs <= upToMs
      );
      assert.deepEqual(store.page(query).rows, within);
      assert.deepEqual(store.page(query, [...rows, ...rows]), {
        rows: within,
        nextCursorId: "",
        total: within.length,
      });
      assert.deepEqual(store.all(), expected);
      assert.equal(store.newestMs, expected.at(-1)?.timeMs ?? null);
      assert.equal(store.size, rows.length);
    },
  ));
});

Deno.test("UserStore lists the users who can buy, after any change", async () => {
  await using sandbox = createSandbox();
  const users = new UserStore();
  const made: SandboxUser[] = [];
  for (const atMs of [5, 1, 3, 3, 9, 2]) {
    const user = sandbox.createUser({ lkyc: "not initiated" }, atMs);
    users.put(user);
    made.push(user);
  }
  const expected = () =>
    users.all().filter((user) => user.lkyc === "success" && !user.banned);
  const found = () =>
    Array.from({ length: users.buyerCount }, (_, place) => users.buyer(place));
  assert.deepEqual(found(), []);
  for (const at of [2, 0, 4, 3, 1]) {
    users.put({ ...made[at] as SandboxUser, lkyc: "success" });
    assert.deepEqual(found(), expected());
  }
  for (const at of [3, 2]) {
    users.put({ ...made[at] as SandboxUser, lkyc: "success", banned: true });
    assert.deepEqual(found(), expected());
  }
  assert.equal(users.buyerCount, 3);
  assert.equal(users.buyer(3), null);
});
