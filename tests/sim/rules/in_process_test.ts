import assert from "node:assert/strict";
import { inProcess } from "./in_process.ts";
import { onVirtualTime } from "../world/virtual_time.ts";
import { World } from "../world/world.ts";

Deno.test("inProcess() does work again that a crash of its process took away", async () => {
  const world = new World({ seed: 1 });
  await onVirtualTime(world.clock, async () => {
    world.heal();
    await world.clock.advance(60_000);
    const { front } = world;
    const tried = new Set<object>();
    const work = (incarnation: object): Promise<string> => {
      tried.add(incarnation);
      if (tried.size > 1) return Promise.resolve("done");
      front.kill();
      return new Promise(() => {});
    };
    assert.equal(await inProcess(world, front, work, 3_600_000), "done");
    assert.equal(tried.size, 2);
    for (const process of world.processes) process.kill();
  });
  await world.close();
});
