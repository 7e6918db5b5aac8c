import assert from "node:assert/strict";
import { onVirtualTime } from "../world/virtual_time.ts";
import { World } from "../world/world.ts";
import { pollOnce } from "./convergence.ts";
import { rows } from "./stored.ts";
import { Inspector } from "./inspector.ts";

Deno.test("pollOnce() waits until the lease of a poller that crashed has expired", async () => {
  // Two rivals that poll when they are told to, of which it picks the second.
  const world = new World({ seed: 7002581 });
  await onVirtualTime(world.clock, async () => {
    world.heal();
    await world.clock.advance(60_000);
    const [first] = world.processes.filter(({ role }) => role.poller);
    void first?.incarnation?.poll();
    for (let ms = 0;; ms++) {
      if (
        (await rows(world, "SELECT 1 FROM leases WHERE name = 'poll'")).length >
          0
      ) break;
      assert.ok(ms < 60_000, "nobody took the lease");
      await world.clock.advance(1);
    }
    first?.kill();
    await pollOnce(world, new Inspector(world));
    for (const process of world.processes) process.kill();
  });
  assert.notEqual(world.delivery, null);
  await world.close();
});
