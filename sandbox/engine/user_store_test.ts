import assert from "node:assert/strict";
import { createSandbox } from "../sandbox.ts";
import type { SandboxUser } from "./sandbox_user.ts";
import { UserStore } from "./user_store.ts";

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
