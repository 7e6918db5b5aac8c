import assert from "node:assert/strict";
import { World } from "../world/world.ts";
import { staleAnomalies } from "./odd_ones.ts";

Deno.test("staleAnomalies() names the fields that were put right and are still told as odd", async () => {
  const world = new World({ seed: 1 });
  const { sandbox } = world;
  const told = (orderId: string) =>
    staleAnomalies(world, orderId, [
      { kind: "unreadable_field", field: "click_id", value: "text" },
      { kind: "time_in_future", field: "changedAt", stated: "2099" },
    ]);
  sandbox.setFaults({ oddRow: 0, rowWithoutId: 0 });
  const { orderId } = sandbox.createOrder();
  assert.deepEqual(told(orderId), ["click_id"]);
  sandbox.setFaults({ rowWithoutId: 1 });
  assert.deepEqual(told(orderId), []);
  for (const process of world.processes) process.kill();
  await world.close();
});
