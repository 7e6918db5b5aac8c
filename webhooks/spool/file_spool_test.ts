import assert from "node:assert/strict";
import {
  type Delivery,
  fileSpool,
  type SpoolDamage,
  SpoolError,
} from "../mod.ts";

async function inDirectory(
  work: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await work(`${directory}/spool`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function delivery(id: string): Delivery {
  return {
    id,
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(`{"n":"${id}"}`),
  };
}

const names = (directory: string): string[] =>
  [...Deno.readDirSync(directory)].map(({ name }) => name).sort();

Deno.test("fileSpool() hands what an earlier process left to a later one", () =>
  inDirectory(async (directory) => {
    const first = await fileSpool({ directory });
    await Promise.all(["a", "b", "c"].map((id) => first.put(delivery(id))));
    await first.close();
    const second = await fileSpool({ directory });
    assert.equal(second.depth, 3);
    const seen: Delivery[] = [];
    await second.drain((one) => {
      seen.push(one);
      return Promise.resolve();
    });
    assert.deepEqual(seen, ["a", "b", "c"].map(delivery));
    await second.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("fileSpool() lets only its owner read its files", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.put(delivery("a"));
    const [segment] = names(directory);
    const mode = (path: string): number =>
      (Deno.statSync(path).mode ?? 0) & 0o777;
    assert.equal(mode(directory), 0o700);
    assert.equal(mode(`${directory}/${segment}`), 0o600);
    await spool.close();
  }));

Deno.test("fileSpool() shares a directory without touching what another one writes", () =>
  inDirectory(async (directory) => {
    const first = await fileSpool({ directory });
    const second = await fileSpool({ directory });
    await first.put(delivery("a"));
    await second.put(delivery("b"));
    const seen: string[] = [];
    const append = (one: Delivery): Promise<void> => {
      seen.push(one.id);
      return Promise.resolve();
    };
    assert.equal(await second.drain(append), 1);
    await first.put(delivery("c"));
    assert.equal(await second.drain(append), 0);
    assert.equal(await first.drain(append), 2);
    assert.deepEqual(seen, ["b", "a", "c"]);
    await first.put(delivery("d"));
    await first.close();
    assert.equal(await second.drain(append), 1);
    await second.close();
  }));

Deno.test("fileSpool() cut at any byte keeps the records before, and reports the rest", () =>
  inDirectory(async (directory) => {
    const writer = await fileSpool({ directory });
    const ids = ["a", "b", "c"];
    const ends: number[] = [];
    for (const id of ids) {
      await writer.put(delivery(id));
      ends.push(writer.bytes);
    }
    await writer.close();
    const [name] = names(directory);
    assert(name !== undefined);
    const whole = await Deno.readFile(`${directory}/${name}`);
    for (let length = 0; length <= whole.length; length++) {
      await Deno.writeFile(`${directory}/${name}`, whole.slice(0, length));
      const damage: SpoolDamage[] = [];
      const spool = await fileSpool({
        directory,
        onDamage: (one) => damage.push(one),
      });
      const seen: string[] = [];
      await spool.drain((one) => {
        seen.push(one.id);
        return Promise.resolve();
      });
      await spool.close();
      const kept = ends.filter((end) => end <= length);
      assert.deepEqual(seen, ids.slice(0, kept.length), `cut at ${length}`);
      const torn = length - (kept.at(-1) ?? 0);
      assert.deepEqual(
        damage.map(({ bytes }) => bytes),
        torn === 0 ? [] : [torn],
      );
      assert.deepEqual(names(directory), []);
    }
  }));

Deno.test("fileSpool() refuses invalid limits and directories", () =>
  inDirectory(async (directory) => {
    await assert.rejects(fileSpool({ directory, maxBytes: 0 }), RangeError);
    await assert.rejects(
      fileSpool({ directory, segmentBytes: NaN }),
      RangeError,
    );
    await Deno.writeTextFile(directory, "a file");
    await assert.rejects(
      fileSpool({ directory }),
      (error: unknown) => error instanceof SpoolError && error.code === "disk",
    );
  }));

Deno.test("put() makes a directory that was removed again, before and after it has written there", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    for (const id of ["a", "b", "c"]) {
      await Deno.remove(directory, { recursive: true });
      await spool.put(delivery(id));
      // What a process that comes after a kill would find.
      const bytes = await Deno.readFile(
        `${directory}/${names(directory).at(-1)}`,
      );
      assert.ok(new TextDecoder().decode(bytes).includes(`"id":"${id}"`));
    }
    assert.equal(spool.depth, 3);
    const seen: Delivery[] = [];
    await spool.drain((one) => {
      seen.push(one);
      return Promise.resolve();
    });
    // While the process lives nothing is lost, not even what was removed.
    assert.deepEqual(
      [...new Set(seen.map(({ id }) => id))].sort(),
      ["a", "b", "c"],
    );
    assert.equal(spool.depth, 0);
    await spool.close();
  }));

Deno.test("drain() goes on without a directory", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await Deno.remove(directory);
    assert.equal(await spool.drain(() => Promise.resolve()), 0);
    await spool.close();
  }));

Deno.test("put() says that the disk fails, and goes on when it does not", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await Deno.remove(directory);
    await Deno.writeTextFile(directory, "a file");
    await assert.rejects(
      spool.put(delivery("a")),
      (error: unknown) =>
        error instanceof SpoolError && error.code === "disk" &&
        !error.message.endsWith("."),
    );
    await Deno.remove(directory);
    await spool.put(delivery("a"));
    assert.equal(spool.depth, 1);
    await spool.close();
  }));
