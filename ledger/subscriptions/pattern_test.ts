import assert from "node:assert/strict";
import { matcher } from "./pattern.ts";
import { redeliveryDelayMs } from "./redelivery_delay.ts";

const success = {
  entity: "order",
  trust: "confirmed",
  status: "success",
} as const;
const odd = { entity: "order", trust: "confirmed", status: "on.hold" } as const;
const banned = {
  entity: "user",
  trust: "confirmed",
  status: "banned",
} as const;

Deno.test.each([
  ["*", [true, true, true]],
  ["order.*.*", [true, true, false]],
  ["order.confirmed.success", [true, false, false]],
  ["order.claimed.success", [false, false, false]],
  ["*.confirmed.on.hold", [false, true, false]],
  [["user.*.banned", "order.*.success"], [true, false, true]],
])("matcher() of %j takes exactly what it names", (on, expected) => {
  const matches = matcher(on as string | string[]);
  assert.deepEqual([success, odd, banned].map(matches), expected);
});

Deno.test("matcher() refuses what is no pattern", () => {
  for (
    const on of [
      "",
      "order",
      "order.confirmed",
      "orders.*.*",
      "order.sure.x",
      "order.*.",
      [],
    ]
  ) {
    assert.throws(() => matcher(on), TypeError, JSON.stringify(on));
  }
});

Deno.test("redeliveryDelayMs() doubles from a second to an hour", () => {
  assert.deepEqual([1, 2, 3, 12, 13, 1000].map(redeliveryDelayMs), [
    1000,
    2000,
    4000,
    2048_000,
    3600_000,
    3600_000,
  ]);
});
