import assert from "node:assert/strict";
import { readRecords } from "../../core/wire/delivery_records.ts";
import {
  type Delivery,
  fileSpool,
  type SpoolDamage,
  SpoolError,
  type TakeRecords,
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
    id: id.toUpperCase().padStart(26, "0"),
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(`{"n":"${id}"}`),
  };
}

/** Remembers the bodies it takes, in a word. */
function taker(seen: string[]): TakeRecords {
  return (records) => {
    for (const one of readRecords(records)) {
      const id = one.id.slice(-1).toLowerCase();
      assert.deepEqual(one, delivery(id));
      seen.push(id);
    }
    return Promise.resolve();
  };
}

const names = (directory: string): string[] =>
  [...Deno.readDirSync(directory)].map(({ name }) => name).sort();

const segments = (directory: string): string[] =>
  names(directory).filter((name) => name.endsWith(".spool"));

Deno.test("fileSpool() hands what an earlier process left to a later one", () =>
  inDirectory(async (directory) => {
    const first = await fileSpool({ directory });
    await Promise.all(["a", "b", "c"].map((id) => first.put(delivery(id))));
    await first.close();
    const second = await fileSpool({ directory });
    assert.equal(second.depth, 3);
    const seen: string[] = [];
    await second.drain(taker(seen));
    assert.deepEqual(seen, ["a", "b", "c"]);
    await second.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("fileSpool() lets only its owner read its files", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.put(delivery("a"));
    const [segment] = segments(directory);
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
    const append = taker(seen);
    assert.equal(await second.drain(append), 1);
    await first.put(delivery("c"));
    assert.equal(await second.drain(append), 0);
    assert.equal(await first.drain(append), 2);
    await first.put(delivery("d"));
    await first.close();
    await second.tidy();
    // A closed segment is handed over whole, whatever was drained before.
    assert.equal(await second.drain(append), 3);
    assert.deepEqual(seen, ["b", "a", "c", "a", "c", "d"]);
    await second.close();
  }));

Deno.test("fileSpool() cut at any byte keeps the records before, and reports the rest", () =>
  inDirectory(async (directory) => {
    const writer = await fileSpool({ directory, segmentBytes: 200 });
    const ids = ["a", "b", "c"];
    const ends: number[] = [];
    for (const id of ids) {
      await writer.put(delivery(id));
      ends.push(writer.bytes);
    }
    await writer.close();
    const [name] = segments(directory);
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
      await spool.drain(taker(seen));
      await spool.close();
      const kept = ends.filter((end) => end <= length);
      assert.deepEqual(seen, ids.slice(0, kept.length), `cut at ${length}`);
      const isWhole = length >= (ends.at(-1) ?? 0) || kept.includes(length);
      assert.deepEqual(
        damage.map(({ torn }) => torn),
        isWhole || length === 0 ? [] : [true],
      );
      assert.deepEqual(names(directory), []);
    }
  }));

Deno.test("fileSpool() opens beside a segment whose lock is no lock, and says which", () =>
  inDirectory(async (directory) => {
    for (const id of ["a", "b"]) {
      const left = await fileSpool({ directory });
      await left.put(delivery(id));
      await left.close();
    }
    const [first = ""] = segments(directory);
    const lock = `${directory}/${first}-lock`;
    await Deno.writeFile(lock, new Uint8Array(5000).fill(0xee));
    const spool = await fileSpool({ directory });
    await assert.rejects(spool.tidy(), (error: Error) => {
      assert.match(error.message, new RegExp(`Cannot claim ${first} of the`));
      return true;
    });
    const seen: string[] = [];
    await spool.drain(taker(seen));
    assert.deepEqual(seen, ["b"]);
    await Deno.remove(lock);
    await spool.tidy();
    await spool.drain(taker(seen));
    assert.deepEqual(seen, ["b", "a"]);
    await spool.close();
    assert.deepEqual(segments(directory), []);
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
      const texts = segments(directory).map((name) =>
        Deno.readTextFileSync(`${directory}/${name}`)
      );
      assert.ok(texts.some((text) => text.includes(`{"n":"${id}"}`)));
    }
    assert.equal(spool.depth, 3);
    const seen: string[] = [];
    await spool.drain(taker(seen));
    // While the process lives nothing is lost, not even what was removed.
    assert.deepEqual(seen, ["a", "b", "c"]);
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

Deno.test("ready() says why there is no room, until there is", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.ready();
    await spool.close();
    const other = await fileSpool({ directory });
    await Deno.remove(directory);
    await Deno.writeTextFile(directory, "a file");
    await assert.rejects(other.ready(), SpoolError);
    await assert.rejects(other.put(delivery("a")), SpoolError);
    await Deno.remove(directory);
    await other.ready();
    await other.put(delivery("a"));
    await other.ready();
    await other.close();
  }));
