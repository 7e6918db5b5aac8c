import assert from "node:assert/strict";
import { lockOfSegment, lockSegment } from "./segment_lock.ts";

Deno.test("lockSegment() gives a segment to one at a time, by a file that stays empty and alone", async () => {
  const directory = await Deno.makeTempDir({ prefix: "rampkit-lock-" });
  const segment = `${directory}/a.spool`;
  try {
    {
      using held = await lockSegment(segment);
      assert.ok(held !== null);
      assert.equal(await lockSegment(`${segment}.new`), null, "the same one");
      using other = await lockSegment(`${directory}/b.spool`);
      assert.ok(other !== null);
      const names = await Array.fromAsync(
        Deno.readDir(directory),
        ({ name }) => name,
      );
      assert.deepEqual(names.sort(), ["a.spool-lock", "b.spool-lock"]);
      assert.equal((await Deno.stat(lockOfSegment(segment))).size, 0);
    }
    using again = await lockSegment(segment);
    assert.ok(again !== null, "given back");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
