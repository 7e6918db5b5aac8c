import assert from "node:assert/strict";
import { DeliveryLog } from "./delivery_log.ts";

Deno.test("DeliveryLog keeps the latest up to its limit, oldest first", () => {
  const log = new DeliveryLog(3);
  for (let number = 1; number <= 10; number++) {
    const message = {
      cause: "life",
      type: "login",
      orderId: null,
      userId: null,
      body: "{}",
    } as const;
    log.add(message, number);
    const kept = log.latest().map((job) => job.number);
    const expected = [number - 2, number - 1, number].filter((one) => one > 0);
    assert.deepEqual(kept, expected);
    assert.deepEqual(log.latest(1).map((job) => job.number), [number]);
    assert.equal(log.latest(9).length, expected.length);
  }
});
