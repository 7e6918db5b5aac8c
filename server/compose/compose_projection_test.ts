import assert from "node:assert/strict";
import { ProjectionOnDemand } from "./compose_service.ts";

Deno.test("ProjectionOnDemand folds once more for what arrives during a fold", async () => {
  let folds = 0;
  const events: string[] = [];
  const projection = new ProjectionOnDemand(async () => {
    folds++;
    await Promise.resolve();
  }, {
    onDone: () => events.push("done"),
    onError: () => events.push("failed"),
  });
  projection.wake();
  projection.wake();
  projection.wake();
  await projection.stop();
  assert.equal(folds, 2);
  assert.deepEqual(events, ["done"]);
});

Deno.test("ProjectionOnDemand tries again after the next append when a fold failed", async () => {
  const events: string[] = [];
  let fails = true;
  const projection = new ProjectionOnDemand(
    () => fails ? Promise.reject(new Error("Busy")) : Promise.resolve(),
    {
      onDone: () => events.push("done"),
      onError: () => events.push("failed"),
    },
  );
  projection.wake();
  await projection.stop();
  fails = false;
  projection.wake();
  await projection.stop();
  assert.deepEqual(events, ["failed", "done"]);
});
