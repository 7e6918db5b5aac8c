import assert from "node:assert/strict";
import { Lanes } from "./lanes.ts";

Deno.test("Lanes.add() runs lanes side by side, each in order, and no more than allowed", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const lanes = new Lanes<string>(2, (item) => {
    begun.push(item);
    return new Promise<void>((resolve) => ends.push(resolve));
  });
  for (const item of ["a1", "a2", "b1", "c1"]) lanes.add(item[0] ?? "", item);
  assert.deepEqual(begun, ["a1", "b1"]);
  const idle = lanes.idle();
  for (const expected of [["c1"], ["a2"]]) {
    const before = begun.length;
    ends.shift()?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
    assert.deepEqual(begun.slice(before), expected);
  }
  for (const end of ends) end();
  await idle;
  await lanes.idle();
});
