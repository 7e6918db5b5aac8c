import assert from "node:assert/strict";
import { readRecords } from "../core/wire/delivery_records.ts";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import {
  type Delivery,
  fileSpool,
  type Spool,
  type SpoolDamage,
  SpoolError,
  type TakeRecords,
} from "./mod.ts";
import { Inbox } from "./inbox.ts";
import { type InboxFolder, inboxFolder } from "./inbox_file.ts";

async function inDirectory(
  work: (directory: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  await work(`${folder.path}/spool`);
}

function delivery(id: string): Delivery {
  return {
    id: id.padStart(26, "0"),
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(`{"n":"${id}"}`),
  };
}

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => String(at).padStart(2, "0"));

const done = (): Promise<void> => Promise.resolve();

/** Ids of deliveries, as short as they were given. */
function idsOf(records: Uint8Array): string[] {
  return readRecords(records).map((one) => {
    const id = one.id.slice(-2);
    assert.deepEqual(one, delivery(id));
    return id;
  });
}

/** Ids that a spool hands over, in order. */
async function drained(spool: Spool): Promise<string[]> {
  const seen: string[] = [];
  await spool.drain((records, count) => {
    const ids = idsOf(records);
    assert.equal(ids.length, count);
    seen.push(...ids);
    return Promise.resolve();
  });
  return seen;
}

const names = (directory: string): string[] =>
  [...Deno.readDirSync(directory)].map(({ name }) => name).sort();

/** The files of a folder, without their logs. */
const files = (directory: string): string[] =>
  names(directory).filter((name) => name.endsWith(".inbox.db"));

/** An inbox in a folder whose n-th operation fails. */
function shaky(directory: string, failAt: number) {
  const real = inboxFolder(directory);
  const count = { operations: 0 };
  const step = <T>(work: () => T): T => {
    if (count.operations++ === failAt) throw new Error("Disk failure");
    return work();
  };
  const wrap = (file: ReturnType<InboxFolder["create"]>): typeof file => ({
    name: file.name,
    get isDamaged() {
      return file.isDamaged;
    },
    write: (groups) => step(() => file.write(groups)),
    sync: async () => await step(() => file.sync()),
    kept: () => file.kept(),
    oldestMs: (after) => file.oldestMs(after),
    read: (after, upTo) => step(() => file.read(after, upTo)),
    forget: (number) => step(() => file.forget(number)),
    tidy: () => step(() => file.tidy()),
    discard: () => file.discard(),
    close: () => file.close(),
  });
  const folder: InboxFolder = {
    ...real,
    list: () => step(real.list),
    create: (name) => step(() => wrap(real.create(name))),
    claim: (name) => {
      const file = step(() => real.claim(name));
      return file === null ? null : wrap(file);
    },
    remove: (name) => step(() => real.remove(name)),
  };
  const open = () =>
    new Inbox({
      ...{ folder, writer: "0000000a", maxBytes: 1e9, now: () => 7 },
      onDamage: ({ detail }) => assert.fail(detail),
    });
  return { open, count };
}

Deno.test("fileSpool() hands over every delivery once, in order, and leaves no file", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    for (const id of ids(10)) await spool.put(delivery(id));
    assert.equal(spool.depth, 10);
    assert.deepEqual(await drained(spool), ids(10));
    assert.deepEqual(await drained(spool), []);
    assert.deepEqual([spool.depth, spool.bytes], [0, 0]);
    await spool.put(delivery("11"));
    await spool.tidy();
    assert.deepEqual(await drained(spool), ["11"]);
    await spool.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("fileSpool() hands what an earlier process left to a later one", () =>
  inDirectory(async (directory) => {
    const first = await fileSpool({ directory });
    await Promise.all(ids(300).map((id) => first.put(delivery(id.slice(-2)))));
    await first.close();
    const second = await fileSpool({ directory });
    assert.equal(second.depth, 300);
    assert.deepEqual(await drained(second), ids(300).map((id) => id.slice(-2)));
    await second.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("fileSpool() lets only its owner read its files", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.put(delivery("00"));
    const mode = (path: string): number =>
      (Deno.statSync(path).mode ?? 0) & 0o777;
    assert.equal(mode(directory), 0o700);
    assert.ok(names(directory).length >= 2);
    for (const name of names(directory)) {
      assert.equal(mode(`${directory}/${name}`), 0o600, name);
    }
    await spool.close();
  }));

Deno.test("fileSpool() shares a directory without touching what another one writes", () =>
  inDirectory(async (directory) => {
    const first = await fileSpool({ directory });
    const second = await fileSpool({ directory });
    await first.put(delivery("00"));
    await second.put(delivery("01"));
    await second.tidy();
    assert.deepEqual(second.writers.others, new Set([first.writers.own]));
    assert.deepEqual(await drained(second), ["01"]);
    await first.put(delivery("02"));
    assert.deepEqual(await drained(second), []);
    assert.deepEqual(await drained(first), ["00", "02"]);
    await first.put(delivery("03"));
    await first.close();
    // Closed is as good as dead: what is left there is anybody's.
    await second.tidy();
    assert.ok(second.writers.takenOver.has(first.writers.own));
    assert.deepEqual(await drained(second), ["03"]);
    await second.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("fileSpool() keeps no body on the disk that was handed over, once it is tidy", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const body = new TextEncoder().encode("a body of Anna's");
    const large = new Uint8Array(300_000).map((_, at) => body[at % 16] ?? 0);
    for (const [at, bytes] of [body, large, body].entries()) {
      await spool.put({ ...delivery(`0${at}`), body: bytes });
    }
    await spool.drain(done);
    await spool.tidy();
    for (const name of names(directory)) {
      const text = await Deno.readTextFile(`${directory}/${name}`);
      assert.ok(!text.includes("Anna"), name);
    }
    await spool.close();
  }));

Deno.test("fileSpool() sets a file aside that is no database, tells it, and takes the others", () =>
  inDirectory(async (directory) => {
    for (const id of ["00", "01"]) {
      const left = await fileSpool({ directory });
      await left.put(delivery(id));
      await left.close();
    }
    const [broken = ""] = files(directory);
    const path = `${directory}/${broken}`;
    await Deno.writeFile(path, (await Deno.readFile(path)).fill(7, 0, 4096));
    const damage: SpoolDamage[] = [];
    const onDamage = (one: SpoolDamage) => damage.push(one);
    const spool = await fileSpool({ directory, onDamage });
    assert.equal((await drained(spool)).length, 1);
    assert.deepEqual(damage.map(({ file }) => file), [broken]);
    assert.match(damage[0]?.detail ?? "", /not a database/);
    await spool.close();
    assert.deepEqual(names(directory), [`${broken}.damaged`]);
  }));

Deno.test("fileSpool() hands over what is whole of a damaged file, and keeps that file", () =>
  inDirectory(async (directory) => {
    const left = await fileSpool({ directory });
    for (const id of ids(3)) await left.put(delivery(id));
    await left.close();
    const [name = ""] = files(directory);
    const path = `${directory}/${name}`;
    const bytes = await Deno.readFile(path);
    const text = new TextDecoder("latin1").decode(bytes);
    bytes[text.indexOf(`"n":"01"`) + 5] = 0x39;
    await Deno.writeFile(path, bytes);
    const damage: SpoolDamage[] = [];
    const onDamage = (one: SpoolDamage) => damage.push(one);
    const spool = await fileSpool({ directory, onDamage });
    assert.deepEqual(await drained(spool), ["00", "02"]);
    assert.deepEqual(damage, [{ file: name, detail: "a checksum differs" }]);
    assert.equal(spool.depth, 0);
    await spool.put(delivery("03"));
    assert.deepEqual(await drained(spool), ["03"]);
    await spool.close();
    assert.deepEqual(names(directory), [`${name}.damaged`]);
    // It says what it held to whoever looks.
    assert.deepEqual(await Deno.readFile(`${path}.damaged`), bytes);
  }));

Deno.test("fileSpool() takes a log that was cut anywhere, and loses nothing before the cut", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.put(delivery("00"));
    await spool.tidy();
    const [name = ""] = files(directory);
    const log = `${directory}/${name}-wal`;
    const ends: number[] = [];
    for (const id of ["01", "02", "03"]) {
      await spool.put(delivery(id));
      ends.push((await Deno.stat(log)).size);
    }
    const [database, whole] = await Promise.all(
      [`${directory}/${name}`, log].map((path) => Deno.readFile(path)),
    );
    await spool.drain(done);
    await spool.close();
    assert.ok(database !== undefined && whole !== undefined);
    for (let length = 0; length <= whole.length; length += 997) {
      await Deno.writeFile(`${directory}/${name}`, database);
      await Deno.writeFile(log, whole.subarray(0, length));
      const next = await fileSpool({ directory });
      const kept = ends.filter((end) => end <= length).length;
      assert.ok((await drained(next)).length >= kept, `cut at ${length}`);
      await next.close();
      assert.deepEqual(names(directory), []);
    }
  }));

Deno.test("fileSpool() refuses invalid limits and directories", () =>
  inDirectory(async (directory) => {
    for (const maxBytes of [0, NaN]) {
      await assert.rejects(fileSpool({ directory, maxBytes }), RangeError);
    }
    await Deno.writeTextFile(directory, "a file");
    await assert.rejects(
      fileSpool({ directory }),
      (error: unknown) => error instanceof SpoolError && error.code === "disk",
    );
  }));

Deno.test("put() makes a directory that was removed again, before and after it has written there", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const seen = new Set<string>();
    for (const id of ids(3)) {
      await Deno.remove(directory, { recursive: true });
      await spool.put(delivery(id));
      // What a process that comes after a kill would find.
      const texts = names(directory).map((name) =>
        Deno.readTextFileSync(`${directory}/${name}`)
      );
      assert.ok(texts.some((text) => text.includes(`{"n":"${id}"}`)));
    }
    await spool.drain((records) => {
      for (const id of idsOf(records)) seen.add(id);
      return Promise.resolve();
    });
    // While the process lives nothing is lost, not even what was removed.
    assert.deepEqual([...seen], ids(3));
    assert.equal(spool.depth, 0);
    await spool.close();
  }));

Deno.test("drain() goes on without a directory", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await Deno.remove(directory);
    assert.equal(await spool.drain(done), 0);
    await spool.close();
  }));

Deno.test("ready() and put() say why there is no room, until there is", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await Deno.remove(directory);
    await Deno.writeTextFile(directory, "a file");
    await assert.rejects(spool.ready(), SpoolError);
    await assert.rejects(
      spool.put(delivery("00")),
      (error: unknown) =>
        error instanceof SpoolError && error.code === "disk" &&
        !error.message.endsWith("."),
    );
    await Deno.remove(directory);
    await spool.ready();
    await spool.put(delivery("00"));
    await spool.ready();
    assert.equal(spool.depth, 1);
    await spool.close();
  }));

Deno.test("put() shares a sync among concurrent deliveries, and refuses one without a ULID alone", () =>
  inDirectory(async (directory) => {
    const { open, count } = shaky(directory, -1);
    const spool = open();
    const results = await Promise.allSettled([
      ...ids(25).map((id) => spool.put(delivery(id))),
      spool.put({ ...delivery("00"), id: "no ULID" }),
      ...ids(50).slice(25).map((id) => spool.put(delivery(id))),
    ]);
    const refused = results.filter(({ status }) => status === "rejected");
    assert.equal(refused.length, 1);
    assert.match(String(Object.values(refused[0] ?? {})[1]), /not a ULID/);
    assert.ok(count.operations <= 6, `${count.operations} operations`);
    assert.deepEqual(await drained(spool), ids(50));
    await spool.close();
  }));

Deno.test("an inbox whose disk fails at the n-th operation keeps every promise, for every n", async () => {
  let n = 0;
  for (let failed = true; failed; n++) {
    await inDirectory(async (directory) => {
      const { open, count } = shaky(directory, n);
      const kept: string[] = [];
      let spool: Spool | null = null;
      const ledger = new Set<string>();
      const take: TakeRecords = (records) => {
        for (const id of idsOf(records)) ledger.add(id);
        return Promise.resolve();
      };
      for (const id of ids(6)) {
        try {
          spool ??= open();
          await spool.put(delivery(id));
          kept.push(id);
          if (id === "03") await spool.drain(take);
        } catch (error) {
          assert.ok(error instanceof SpoolError, String(error));
          assert.equal(error.code, "disk");
        }
      }
      assert.ok(spool !== null);
      assert.ok(kept.length >= 5, `failing at ${n} cost ${6 - kept.length}`);
      // A drain that fails half-way is repeated; the ledger takes an id once.
      for (let attempt = 0; attempt < 3 && spool.depth > 0; attempt++) {
        await spool.drain(take).catch(() => {});
      }
      for (const id of kept) assert.ok(ledger.has(id), `${id} lost, n = ${n}`);
      assert.equal(spool.depth, 0);
      failed = count.operations > n;
      await spool.close();
      // A file whose removing failed is left to the next one.
      const next = await fileSpool({ directory });
      await next.drain(take);
      await next.close();
      assert.deepEqual(names(directory), []);
    });
  }
  assert.ok(n > 15, `only ${n} operations were tried`);
});

Deno.test("drain() stops at a failed group, and resumes there", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const body = new Uint8Array(600_000);
    for (const id of ids(3)) await spool.put({ ...delivery(id), body });
    const taken: string[] = [];
    let calls = 0;
    const take: TakeRecords = (records) => {
      if (calls++ % 2 === 0) return Promise.reject(new Error("Refused"));
      taken.push(...readRecords(records).map(({ id }) => id.slice(-2)));
      return Promise.resolve();
    };
    for (const left of [3, 2, 1]) {
      await assert.rejects(spool.drain(take), { message: "Refused" });
      assert.equal(spool.depth, left);
      assert.deepEqual(taken, ids(3 - left));
    }
    assert.equal(await spool.drain(take), 1);
    assert.deepEqual(taken, ids(3));
    await spool.close();
  }));

Deno.test("drain() hands over at most 1,024 records or about a megabyte at a time, and one record however large", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const sizes = [300_000, 300_000, 500_000, 300_000, 1_200_000, 9, 9];
    for (const [at, size] of sizes.entries()) {
      await spool.put({ ...delivery(`D${at}`), body: new Uint8Array(size) });
    }
    const more = Array.from({ length: 2_500 }, () => spool.put(delivery("00")));
    await Promise.all(more);
    const groups: number[][] = [];
    await spool.drain((records, count) => {
      const read = readRecords(records);
      assert.equal(read.length, count);
      groups.push(read.map((one) => "body" in one ? one.body.length : -1));
      return Promise.resolve();
    });
    assert.deepEqual(groups.slice(0, 3), [
      [300_000, 300_000],
      [500_000, 300_000],
      [1_200_000],
    ]);
    const counts = groups.slice(3).map(({ length }) => length);
    assert.ok(counts.length <= 4 && Math.max(...counts) <= 1_024, `${counts}`);
    assert.equal(counts.reduce((sum, count) => sum + count), 2_502);
    await spool.close();
  }));

Deno.test("fileSpool() ends with a file after some megabytes, and removes it once all of it is handed over", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const body = new Uint8Array(1 << 20);
    for (const id of ids(12)) await spool.put({ ...delivery(id), body });
    assert.ok(files(directory).length >= 2, `${files(directory)}`);
    const taken: string[] = [];
    await spool.drain((records) => {
      taken.push(...readRecords(records).map(({ id }) => id.slice(-2)));
      return Promise.resolve();
    });
    assert.deepEqual(taken, ids(12));
    assert.equal(files(directory).length, 1);
    await spool.close();
    assert.deepEqual(names(directory), []);
  }));

Deno.test("drain() leaves what is put meanwhile to the next time", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    await spool.put(delivery("00"));
    const groups: string[][] = [];
    const take: TakeRecords = async (records) => {
      groups.push(idsOf(records));
      if (groups.length > 1) return;
      for (const id of ["01", "02"]) await spool.put(delivery(id));
    };
    assert.equal(await spool.drain(take), 1);
    assert.equal(await spool.drain(take), 2);
    assert.deepEqual(groups, [["00"], ["01", "02"]]);
    await spool.close();
  }));

Deno.test("note() keeps a note between the deliveries, and oldestMs is the oldest receipt", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    assert.equal(spool.oldestMs, null);
    const note = {
      id: delivery("00").id,
      noticedAt: "2026-11-20T12:00:05.000Z",
      answer: "late",
    } as const;
    await spool.put(delivery("00"));
    await spool.note(note);
    await spool.put(delivery("01"));
    assert.equal(spool.oldestMs, Date.parse(delivery("00").receivedAt));
    const seen: unknown[] = [];
    await spool.drain((records) => {
      seen.push(...readRecords(records.slice()));
      return Promise.resolve();
    });
    assert.deepEqual(seen, [delivery("00"), note, delivery("01")]);
    assert.equal(spool.oldestMs, null);
    await spool.close();
  }));

Deno.test("oldestMs is that of a delivery that still waits, also where some wait at every look", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const later = { ...delivery("01"), receivedAt: "2026-11-20T12:05:00.000Z" };
    await spool.put(delivery("00"));
    await spool.drain(async () => await spool.put(later));
    assert.equal(spool.depth, 1);
    assert.equal(spool.oldestMs, Date.parse(later.receivedAt));
    await spool.close();
  }));

Deno.test("put() refuses beyond maxBytes until something is drained", () =>
  inDirectory(async (directory) => {
    const measure = await fileSpool({ directory });
    await measure.put(delivery("00"));
    const maxBytes = 3 * measure.bytes;
    await measure.drain(done);
    await measure.close();
    const spool = await fileSpool({ directory, maxBytes });
    const results = await Promise.allSettled(
      ids(5).map((id) => spool.put(delivery(id))),
    );
    assert.deepEqual(
      results.map((one) => one.status === "rejected" ? one.reason.code : "ok"),
      ["ok", "ok", "ok", "full", "full"],
    );
    assert.deepEqual(await drained(spool), ids(3));
    await spool.put(delivery("05"));
    await spool.drain(done);
    await spool.close();
  }));

Deno.test("noRoomFor() counts large bodies that are kept, also after a restart, until they are drained", () =>
  inDirectory(async (directory) => {
    const options = { directory, maxBytes: 10 << 20 };
    const bytes = 500_000;
    const large = (id: string) => ({
      ...delivery(id),
      body: new Uint8Array(bytes),
    });
    const first = await fileSpool(options);
    assert.equal(first.noRoomFor(bytes), null);
    const putting = [first.put(large("00")), first.put(large("01"))];
    assert.equal(first.noRoomFor(bytes), "large_share", "they are being put");
    await Promise.all(putting);
    assert.equal(first.noRoomFor(bytes), "large_share");
    assert.equal(first.noRoomFor(64 * 1024), null);
    await first.put(delivery("02"));
    await first.close();
    const second = await fileSpool(options);
    assert.equal(second.noRoomFor(bytes), "large_share");
    assert.equal(await second.drain(done), 3);
    assert.equal(second.noRoomFor(bytes), null);
    await second.close();
  }));

Deno.test("noRoomFor() keeps the last quarter of maxBytes for small bodies", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory, maxBytes: 1 << 20 });
    const body = new Uint8Array(60_000);
    let kept = 0;
    for (; spool.noRoomFor(body.length) === null; kept++) {
      await spool.put({ ...delivery("00"), body });
    }
    assert.equal(kept, 13);
    assert.equal(spool.noRoomFor(body.length), "nearly_full");
    assert.equal(spool.noRoomFor(8 * 1024), null);
    await spool.drain(done);
    assert.equal(spool.noRoomFor(body.length), null);
    await spool.close();
  }));

Deno.test("close() finishes what was put, and then refuses", () =>
  inDirectory(async (directory) => {
    const spool = await fileSpool({ directory });
    const putting = spool.put(delivery("00"));
    await Promise.all([putting, spool.close()]);
    const isClosed = (error: unknown) =>
      error instanceof SpoolError && error.code === "closed";
    await assert.rejects(spool.put(delivery("01")), isClosed);
    await assert.rejects(spool.drain(done), isClosed);
    await assert.rejects(spool.ready(), isClosed);
    await spool.close();
    const next = await fileSpool({ directory });
    assert.deepEqual(await drained(next), ["00"]);
    await next.close();
  }));
