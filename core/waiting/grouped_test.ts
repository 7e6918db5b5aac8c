import assert from "node:assert/strict";
import { grouped } from "./waiting.ts";

Deno.test("grouped() works together on what is asked for while a group is under way", async () => {
  const groups: string[] = [];
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const ask = grouped(async (items: readonly string[]) => {
    groups.push(items.join());
    begun.resolve();
    await go.promise;
    return (item: string) => item.toUpperCase();
  });
  const first = ask("a");
  await begun.promise;
  const later = [ask("b"), ask("c")];
  go.resolve();
  assert.deepEqual(await Promise.all([first, ...later]), ["A", "B", "C"]);
  assert.deepEqual(groups, ["a", "b,c"]);
});

Deno.test("grouped() rejects every call of a group that failed, and goes on", async () => {
  let fails = true;
  const ask = grouped(async (items: readonly number[]) => {
    if (fails) throw await Promise.resolve(new Error(`cannot do ${items}`));
    return (item: number) => item;
  });
  const both = await Promise.allSettled([ask(1), ask(2)]);
  for (const one of both) {
    assert.equal(
      one.status === "rejected" && one.reason.message,
      "cannot do 1,2",
    );
  }
  fails = false;
  assert.equal(await ask(3), 3);
});
