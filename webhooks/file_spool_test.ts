import assert from "node:assert/strict";
import {
  type Delivery,
  fileSpool,
  type SpoolDamage,
  SpoolError,
} from "./mod.ts";

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

Deno.test("fileSpool() hands over to a later process what an earlier one left", () =>
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

Deno.test("fileSpool() lets only its owner read what it keeps", () =>
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

Deno.test("fileSpool() refuses limits that are none, and directories that are none", () =>
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

Deno.test("fileSpool() put() says that the disk fails when its directory is gone", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await Deno.remove(directory);
    await assert.rejects(
      spool.put(delivery("a")),
      (error: unknown) =>
        error instanceof SpoolError && error.code === "disk" &&
        !error.message.endsWith("."),
    );
    await Deno.mkdir(directory);
    await spool.put(delivery("a"));
    assert.equal(spool.depth, 1);
    await spool.close();
  }));
