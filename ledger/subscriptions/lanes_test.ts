import assert from "node:assert/strict";
import { Lanes } from "./lanes.ts";

Deno.test("Lanes.add() runs lanes side by side, each in order, and no more than allowed", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const lanes = new Lanes<string>({
    most: 2,
    work: (item) => {
      begun.push(item);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
    isRetry: () => false,
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

Deno.test("Lanes.add() gives what was tried before half of the places, and all where nothing else waits", async () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const lanes = new Lanes<string>({
    most: 4,
    work: (item) => {
      begun.push(item);
      return new Promise<void>((resolve) => ends.set(item, resolve));
    },
    isRetry: (item) => item.startsWith("again"),
  });
  for (let n = 0; n < 6; n++) lanes.add(`again-${n}`, `again-${n}`);
  assert.deepEqual(begun, ["again-0", "again-1", "again-2", "again-3"]);
  for (let n = 0; n < 6; n++) lanes.add(`new-${n}`, `new-${n}`);
  const end = async (item: string) => {
    const before = begun.length;
    ends.get(item)?.();
    await new Promise((resolve) => setTimeout(resolve, 0));
    return begun.slice(before);
  };
  assert.deepEqual(await end("again-0"), ["new-0"]);
  assert.deepEqual(await end("again-1"), ["new-1"]);
  assert.deepEqual(await end("again-2"), ["again-4"]);
  assert.deepEqual(await end("new-0"), ["new-2"]);
  assert.deepEqual(await end("again-4"), ["again-5"]);
  const idle = lanes.idle();
  for (let round = 0; begun.length < 12; round++) {
    assert.ok(round < 12, `only ${begun.length} have begun`);
    for (const item of begun) await end(item);
  }
  for (const item of begun) await end(item);
  await idle;
});
