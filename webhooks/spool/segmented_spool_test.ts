import fc from "fast-check";
import assert from "node:assert/strict";
import type { Delivery } from "../../core/wire/delivery.ts";
import {
  readRecords,
  RECORD_BYTES as HEAD_BYTES,
} from "../../core/wire/delivery_records.ts";
import type { SegmentDamage } from "./claim_segments.ts";
import { SegmentedSpool } from "./segmented_spool.ts";
import type { SegmentFile, SpoolDisk } from "./spool_disk.ts";
import { SpoolError, type TakeRecords } from "./spool.ts";
import { tries } from "../../tests/kit/thorough.ts";

interface Write {
  readonly at: number;
  readonly bytes: Uint8Array;
}

interface Stored {
  durable: Uint8Array<ArrayBuffer>;
  written: Uint8Array<ArrayBuffer>;
  /** Writes since the last sync. */
  pending: Write[];
  holder: number | null;
}

/**
 * A disk that fails at the n-th operation, and after a crash shows every byte
 * that was synced and as many of the others as `surviving` says.
 */
class ShakyDisk {
  readonly files = new Map<string, Stored>();
  operations = 0;
  syncs = 0;
  failAt: number | null = null;
  /** After the failure nothing works any more, as in a process that died. */
  dead = false;
  /** Waited for in the middle of each sync. */
  syncing: Promise<void> = Promise.resolve();
  #life = 0;

  crash(surviving: number): void {
    this.#life++;
    this.failAt = null;
    this.dead = false;
    for (const file of this.files.values()) {
      const bytes = file.pending.reduce(
        (sum, one) => sum + one.bytes.length,
        0,
      );
      let left = Math.floor(bytes * surviving);
      for (const { at, bytes } of file.pending.splice(0)) {
        file.durable.set(bytes.subarray(0, left), at);
        left = Math.max(0, left - bytes.length);
      }
      file.written = file.durable.slice();
      file.holder = null;
    }
  }

  open(): SpoolDisk {
    const life = ++this.#life;
    return {
      list: () => this.#step(() => [...this.files.keys()].toReversed()),
      create: (name, size) =>
        this.#step(() => {
          assert(!this.files.has(name));
          const file: Stored = {
            durable: new Uint8Array(size),
            written: new Uint8Array(size),
            pending: [],
            holder: life,
          };
          this.files.set(name, file);
          return this.#handle(file);
        }),
      claim: (name) =>
        this.#step(() => {
          const file = this.files.get(name);
          if (file === undefined || file.holder !== null) return null;
          file.holder = life;
          return this.#handle(file);
        }),
      remove: (name) =>
        this.#step(() => {
          this.files.delete(name);
        }),
      rename: (from, to) =>
        this.#step(() => {
          this.files.set(to, this.#file(from));
          this.files.delete(from);
        }),
    };
  }

  #handle(file: Stored): SegmentFile {
    const write = (bytes: Uint8Array, at: number): void => {
      file.written.set(bytes, at);
      file.pending.push({ at, bytes: bytes.slice() });
    };
    return {
      size: file.written.length,
      write: (bytes, at) =>
        this.#stepNow(
          () => write(bytes, at),
          () => write(bytes.slice(0, bytes.length >> 1), at),
        ),
      sync: async () => {
        const reached = file.pending.length;
        await this.syncing;
        await this.#step(() => {
          this.syncs++;
          for (const { at, bytes } of file.pending.splice(0, reached)) {
            file.durable.set(bytes, at);
          }
        });
      },
      read: (from, to) => this.#stepNow(() => file.written.slice(from, to)),
      close: () => {
        file.holder = null;
      },
    };
  }

  #file(name: string): Stored {
    const file = this.files.get(name);
    if (file === undefined) throw new Error(`No file ${name}`);
    return file;
  }

  async #step<T>(work: () => T): Promise<T> {
    await Promise.resolve();
    return this.#stepNow(work);
  }

  #stepNow<T>(work: () => T, partly = (): void => {}): T {
    if (this.dead) throw new Error("The process died");
    if (this.operations++ === this.failAt) {
      partly();
      this.dead = this.#killing;
      throw new Error("Disk failure");
    }
    return work();
  }

  #killing = false;
  killAt(operation: number): void {
    this.failAt = operation;
    this.#killing = true;
  }
}

let names = 0;
function open(
  disk: ShakyDisk,
  limits: { segmentBytes?: number; maxBytes?: number } = {},
  damage: SegmentDamage[] = [],
): Promise<SegmentedSpool> {
  return SegmentedSpool.open({
    disk: disk.open(),
    newId: () => String(++names).padStart(9, "0"),
    mark: 0x1234_0000 + ++names,
    maxBytes: limits.maxBytes ?? 1e9,
    segmentBytes: limits.segmentBytes ?? 20_000,
    onDamage: (one) => damage.push(one),
    now: () => 0,
  });
}

function delivery(id: string): Delivery {
  return {
    id: id.padStart(26, "0"),
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(`{"n":"${id}"}`),
  };
}

/** Ids of deliveries, as short as they were given. */
function idsOf(records: Uint8Array): string[] {
  return readRecords(records).map((one) => {
    const id = one.id.slice(-2);
    assert.deepEqual(one, delivery(id));
    return id;
  });
}

/** Ids that a spool hands over, in order. */
async function drained(spool: SegmentedSpool): Promise<string[]> {
  const seen: string[] = [];
  await spool.drain((records, count) => {
    const ids = idsOf(records);
    assert.equal(ids.length, count);
    seen.push(...ids);
    return Promise.resolve();
  });
  return seen;
}

const RECORD_BYTES = HEAD_BYTES + delivery("00").body.length;
const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(index).padStart(2, "0"));

Deno.test("SegmentedSpool appends every delivery once, in order", async () => {
  for (const segmentBytes of [1, RECORD_BYTES, 3 * RECORD_BYTES, 20_000]) {
    const disk = new ShakyDisk();
    const spool = await open(disk, { segmentBytes });
    for (const id of ids(10)) await spool.put(delivery(id));
    assert.equal(spool.depth, 10);
    assert.equal(spool.bytes, 10 * RECORD_BYTES);
    assert.deepEqual(await drained(spool), ids(10));
    assert.deepEqual(await drained(spool), []);
    assert.equal(spool.depth, 0);
    assert.equal(spool.bytes, 0);
    await spool.close();
    assert.equal(disk.files.size, 0);
  }
});

Deno.test("put() shares a sync among concurrent deliveries", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await Promise.all(ids(50).map((id) => spool.put(delivery(id))));
  assert(disk.syncs <= 2, `${disk.syncs} syncs`);
  assert.deepEqual(await drained(spool), ids(50));
  await spool.close();
});

Deno.test("put() resolves only after the sync", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  disk.crash(0);
  const next = await open(disk);
  assert.deepEqual(await drained(next), ["00"]);
  await next.close();
});

Deno.test("drain() stops at a failed group, and resumes there", async () => {
  const spool = await open(new ShakyDisk(), { segmentBytes: 3 * RECORD_BYTES });
  for (const id of ids(8)) await spool.put(delivery(id));
  const taken: string[] = [];
  let calls = 0;
  const take: TakeRecords = (records) => {
    if (calls++ % 2 === 0) return Promise.reject(new Error("Refused"));
    taken.push(...idsOf(records));
    return Promise.resolve();
  };
  for (const left of [8, 5, 2]) {
    await assert.rejects(spool.drain(take), { message: "Refused" });
    // What was taken before the first that was refused is not kept.
    assert.equal(spool.depth, left);
    assert.deepEqual(taken, ids(8 - left));
  }
  assert.equal(await spool.drain(take), 2);
  assert.deepEqual(taken, ids(8));
  await spool.close();
});

Deno.test("drain() hands over at most 1,024 records or a megabyte at a time, and one record however large", async () => {
  const spool = await open(new ShakyDisk(), {
    maxBytes: 40 << 20,
    segmentBytes: 8 << 20,
  });
  const sizes = [300_000, 300_000, 500_000, 300_000, 1_200_000, 9, 9];
  for (const [at, size] of sizes.entries()) {
    const one = delivery(`D${at}`);
    await spool.put({ ...one, body: new Uint8Array(size) });
  }
  await Promise.all(
    Array.from({ length: 1_500 }, () => spool.put(delivery("00"))),
  );
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
  assert.deepEqual(groups.slice(3).map(({ length }) => length), [1_024, 478]);
  await spool.close();
});

Deno.test("drain() leaves what is put meanwhile to the next time", async () => {
  const spool = await open(new ShakyDisk());
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
});

Deno.test("drain() does not hand over what is not synced yet", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.syncing = promise;
  const putting = spool.put(delivery("01"));
  assert.deepEqual(await drained(spool), ["00"]);
  resolve();
  await putting;
  assert.deepEqual(await drained(spool), ["01"]);
  await spool.close();
});

Deno.test("note() keeps a note between the deliveries", async () => {
  const spool = await open(new ShakyDisk());
  const note = {
    id: delivery("00").id,
    noticedAt: "2026-11-20T12:00:05.000Z",
    answer: "late",
  } as const;
  await spool.put(delivery("00"));
  await spool.note(note);
  await spool.put(delivery("01"));
  const seen: unknown[] = [];
  await spool.drain((records) => {
    seen.push(...readRecords(records));
    return Promise.resolve();
  });
  assert.deepEqual(seen, [delivery("00"), note, delivery("01")]);
  await spool.close();
});

Deno.test("oldestMs is the receipt of the oldest record that is not drained", async () => {
  const spool = await open(new ShakyDisk());
  assert.equal(spool.oldestMs, null);
  await spool.put(delivery("00"));
  await spool.put({ ...delivery("01"), receivedAt: "2027-01-01T00:00:00Z" });
  assert.equal(spool.oldestMs, Date.parse(delivery("00").receivedAt));
  await spool.drain(() => Promise.resolve());
  assert.equal(spool.oldestMs, null);
  await spool.close();
});

Deno.test("SegmentedSpool overwrites what was drained, and writes there again", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  for (const id of ids(3)) {
    await spool.put(delivery(id));
    assert.deepEqual(await drained(spool), [id]);
    await spool.tidy();
    await spool.ready();
    const files = [...disk.files.values()];
    assert.equal(files.length, 1);
    assert(files[0]?.durable.every((byte) => byte === 0));
  }
  await spool.close();
});

Deno.test("SegmentedSpool overwrites what was drained also while deliveries keep coming", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  assert.deepEqual(await drained(spool), ["00"]);
  await spool.put(delivery("01"));
  const [first] = disk.files.values();
  await spool.tidy();
  await spool.put(delivery("02"));
  assert.deepEqual(await drained(spool), ["01", "02"]);
  await spool.put(delivery("03"));
  await spool.ready();
  assert(first?.durable.every((byte) => byte === 0));
  assert.deepEqual(await drained(spool), ["03"]);
  await spool.close();
});

Deno.test("SegmentedSpool with a disk failing at the n-th operation keeps every promise, for every n", async () => {
  let n = 0;
  for (let failed = true; failed; n++) {
    const disk = new ShakyDisk();
    disk.failAt = n;
    const kept: string[] = [];
    let spool: SegmentedSpool | null = null;
    for (const id of ids(6)) {
      try {
        spool ??= await open(disk, { segmentBytes: 2 * RECORD_BYTES });
        await spool.put(delivery(id));
        kept.push(id);
      } catch (error) {
        assert(error instanceof SpoolError);
        assert.equal(error.code, "disk");
      }
    }
    assert(spool !== null);
    assert(kept.length >= 4, `failing at ${n} cost ${6 - kept.length}`);
    // A drain that fails half-way is repeated; the ledger takes an id once.
    const ledger = new Set<string>();
    for (let attempt = 0; attempt < 3 && spool.depth > 0; attempt++) {
      await spool.drain((records) => {
        for (const id of idsOf(records)) ledger.add(id);
        return Promise.resolve();
      }).catch(() => {});
    }
    for (const id of kept) assert(ledger.has(id), `${id} lost, n = ${n}`);
    assert.equal(spool.depth, 0);
    failed = disk.operations > n;
    disk.failAt = null;
    // Nothing was written after the failure, so nothing counts as damaged.
    await spool.drain(() => Promise.resolve());
    await spool.close();
    // A segment whose making or removing failed is left to the next one.
    await (await open(disk)).close();
    assert.deepEqual([...disk.files.keys()], []);
  }
  assert(n > 15, `only ${n} operations were tried`);
});

Deno.test("SegmentedSpool dying at the n-th operation loses nothing it promised, for every n", async () => {
  for (const surviving of [0, 0.3, 0.7, 1]) {
    let n = 0;
    for (let died = true; died; n++) {
      const disk = new ShakyDisk();
      disk.killAt(n);
      const kept: string[] = [];
      const ledger: string[] = [];
      const append: TakeRecords = (records) => {
        ledger.push(...idsOf(records));
        return Promise.resolve();
      };
      try {
        const spool = await open(disk, { segmentBytes: 3 * RECORD_BYTES });
        for (const id of ids(7)) {
          await spool.put(delivery(id));
          kept.push(id);
          if (id === "04") await spool.drain(append);
        }
        await spool.drain(append);
      } catch {
        // The process is gone, at whatever step this was.
      }
      died = disk.operations > n;
      disk.crash(surviving);
      const next = await open(disk);
      await next.drain(append);
      await next.close();
      for (const id of kept) {
        assert(ledger.includes(id), `${id} lost, n = ${n}, ${surviving}`);
      }
      // In order: the first time each id is seen.
      assert.deepEqual(
        [...new Set(ledger)],
        ids(7).slice(0, new Set(ledger).size),
      );
      assert.deepEqual([...disk.files.keys()], []);
    }
    assert(n > 15, `only ${n} operations were tried`);
  }
});

Deno.test("SegmentedSpool does not touch segments that another process holds", async () => {
  const disk = new ShakyDisk();
  const first = await open(disk);
  await first.put(delivery("00"));
  const second = await open(disk);
  await second.put(delivery("01"));
  assert.deepEqual(await drained(second), ["01"]);
  assert.deepEqual(await drained(first), ["00"]);
  await first.put(delivery("02"));
  await first.close();
  // Closed is as good as dead: what is left there is anybody's.
  assert.deepEqual(await drained(second), []);
  await second.tidy();
  // Its first record was drained before, and may be handed over again.
  assert.deepEqual(await drained(second), ["00", "02"]);
  await second.close();
});

Deno.test("SegmentedSpool reports a torn tail, and keeps a damaged segment", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  await spool.put(delivery("01"));
  await spool.close();
  const [name] = disk.files.keys();
  assert(name !== undefined);
  const file = disk.files.get(name);
  assert(file !== undefined);
  const intact = file.written.slice();

  file.written = intact.slice().fill(0, 2 * RECORD_BYTES - 1);
  const torn: SegmentDamage[] = [];
  const afterTear = await open(disk, {}, torn);
  assert.deepEqual(await drained(afterTear), ["00"]);
  await afterTear.close();
  assert.deepEqual(torn, [{
    segment: name,
    offset: RECORD_BYTES,
    bytes: RECORD_BYTES - 1,
    torn: true,
  }]);
  assert.equal(disk.files.size, 0);

  file.written = Uint8Array.from(intact.with(40, 0));
  disk.files.set(name, file);
  const damaged: SegmentDamage[] = [];
  const afterRot = await open(disk, {}, damaged);
  assert.deepEqual(await drained(afterRot), ["01"]);
  await afterRot.close();
  assert.equal(damaged.length, 1);
  assert.equal(damaged[0]?.torn, false);
  assert.deepEqual([...disk.files.keys()], [`${name}.damaged`]);
});

for (
  const { what, change, left } of [
    {
      what: "filled with zeros",
      change: (bytes: Uint8Array) => bytes.fill(0),
      left: [],
    },
    {
      what: "overwritten where its first record is",
      change: (bytes: Uint8Array) => bytes.fill(0xee, 0, RECORD_BYTES),
      left: ["01", "02"],
    },
    {
      what: "altered in one byte of a body",
      change: (bytes: Uint8Array) =>
        bytes.fill(0x20, 2 * RECORD_BYTES - 4, 2 * RECORD_BYTES - 3),
      left: ["00", "02"],
    },
    {
      what: "cut short",
      change: (bytes: Uint8Array) => bytes.subarray(0, 2 * RECORD_BYTES + 9),
      left: ["00", "01"],
    },
  ]
) {
  Deno.test(`drain() of a segment that was ${what} hands over what is whole, and goes on`, async () => {
    const disk = new ShakyDisk();
    const damage: SegmentDamage[] = [];
    const spool = await open(disk, {}, damage);
    for (const id of ids(3)) await spool.put(delivery(id));
    const [[name, file] = []] = disk.files;
    assert(name !== undefined && file !== undefined);
    file.written = Uint8Array.from(change(file.written));
    assert.deepEqual(await drained(spool), left);
    assert.equal(spool.depth, 0);
    assert.equal(spool.bytes, 0);
    const bytes = (3 - left.length) * RECORD_BYTES;
    assert.deepEqual(
      damage.map(({ segment, bytes, torn }) => ({ segment, bytes, torn })),
      [{ segment: name, bytes, torn: false }],
    );
    await spool.put(delivery("77"));
    assert.deepEqual(await drained(spool), ["77"]);
    await spool.close();
    assert.deepEqual([...disk.files.keys()], [`${name}.damaged`]);
  });
}

Deno.test("drain() goes on behind a segment that cannot be removed", async () => {
  const disk = new ShakyDisk();
  const openDisk = disk.open.bind(disk);
  let isRefused = true;
  disk.open = () => {
    const opened = openDisk();
    const remove = (name: string) =>
      isRefused ? Promise.reject(new Error("EACCES")) : opened.remove(name);
    return { ...opened, remove };
  };
  const spool = await open(disk, { segmentBytes: 2 * RECORD_BYTES });
  for (const id of ids(6)) await spool.put(delivery(id));
  const seen: string[] = [];
  const take = (records: Uint8Array) => {
    seen.push(...idsOf(records));
    return Promise.resolve();
  };
  await assert.rejects(spool.drain(take), /Cannot clear spool: EACCES/);
  assert.deepEqual(seen, ids(6));
  isRefused = false;
  assert.deepEqual(await drained(spool), []);
  await spool.close();
  assert.equal(disk.files.size, 0);
});

Deno.test("SegmentedSpool takes over what it can beside a segment that it cannot claim", async () => {
  const disk = new ShakyDisk();
  for (const id of ids(2)) {
    const left = await open(disk);
    await left.put(delivery(id));
    await left.close();
  }
  const [refused] = disk.files.keys();
  const openDisk = disk.open.bind(disk);
  disk.open = () => {
    const opened = openDisk();
    return {
      ...opened,
      claim: (name) =>
        name === refused
          ? Promise.reject(new Error("EACCES"))
          : opened.claim(name),
    };
  };
  const spool = await open(disk);
  await spool.put(delivery("77"));
  await assert.rejects(
    spool.tidy(),
    { message: `Cannot claim ${refused} of the spool: EACCES` },
  );
  assert.deepEqual(await drained(spool), ["01", "77"]);
  await spool.close();
  assert.deepEqual([...disk.files.keys()], [refused]);
});

Deno.test("put() refuses beyond maxBytes until something is drained", async () => {
  const spool = await open(new ShakyDisk(), { maxBytes: 3 * RECORD_BYTES });
  const results = await Promise.allSettled(
    ids(5).map((id) => spool.put(delivery(id))),
  );
  assert.deepEqual(
    results.map(({ status }) => status === "fulfilled"),
    [true, true, true, false, false],
  );
  for (const result of results.slice(3)) {
    assert(result.status === "rejected");
    assert(result.reason instanceof SpoolError);
    assert.equal(result.reason.code, "full");
  }
  assert.deepEqual(await drained(spool), ids(3));
  await spool.put(delivery("05"));
  await spool.close();
});

Deno.test("noRoomFor() counts large bodies that are kept, also after a restart, until they are drained", async () => {
  const disk = new ShakyDisk();
  const options = { maxBytes: 10 << 20, segmentBytes: 1 << 20 };
  const bytes = 500_000;
  const large = (id: string) => ({
    ...delivery(id),
    body: new Uint8Array(bytes),
  });
  const first = await open(disk, options);
  assert.equal(first.noRoomFor(bytes), null);
  const putting = [first.put(large("00")), first.put(large("01"))];
  assert.equal(first.noRoomFor(bytes), "large_share", "they are being put");
  await Promise.all(putting);
  assert.equal(first.noRoomFor(bytes), "large_share");
  assert.equal(first.noRoomFor(64 * 1024), null);
  await first.put(delivery("02"));
  disk.crash(1);
  const second = await open(disk, options);
  assert.equal(second.noRoomFor(bytes), "large_share");
  assert.equal(await second.drain(() => Promise.resolve()), 3);
  assert.equal(second.noRoomFor(bytes), null);
  await second.close();
});

Deno.test("noRoomFor() keeps the last quarter of maxBytes for small bodies", async () => {
  const spool = await open(new ShakyDisk(), {
    maxBytes: 1 << 20,
    segmentBytes: 1 << 20,
  });
  const body = new Uint8Array(60_000);
  let kept = 0;
  for (; spool.noRoomFor(body.length) === null; kept++) {
    await spool.put({ ...delivery("00"), body });
  }
  assert.equal(kept, 13);
  assert.equal(spool.noRoomFor(body.length), "nearly_full");
  assert.equal(spool.noRoomFor(8 * 1024), null);
  await spool.drain(() => Promise.resolve());
  assert.equal(spool.noRoomFor(body.length), null);
  await spool.close();
});

Deno.test("close() finishes what was put, and then refuses", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  const putting = spool.put(delivery("00"));
  await Promise.all([putting, spool.close()]);
  await assert.rejects(
    spool.put(delivery("01")),
    (error: unknown) => error instanceof SpoolError && error.code === "closed",
  );
  await assert.rejects(spool.drain(() => Promise.resolve()), SpoolError);
  await spool.close();
  const next = await open(disk);
  assert.deepEqual(await drained(next), ["00"]);
  await next.close();
});

Deno.test("SegmentedSpool keeps every promise under any interleaving of puts, drains and failures", async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.constant("put" as const) },
    { weight: 2, arbitrary: fc.constant("drain" as const) },
    { weight: 1, arbitrary: fc.constant("crash" as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
      async (steps, records, surviving, failures) => {
        const disk = new ShakyDisk();
        const limits = { segmentBytes: records * RECORD_BYTES };
        let spool = await open(disk, limits);
        let sent = 0;
        let appends = 0;
        const ledger = new Set<string>();
        const kept = new Set<string>();
        const underWay: Promise<unknown>[] = [];
        const append: TakeRecords = (records) => {
          if (failures[appends++ % failures.length] && appends < 20) {
            return Promise.reject(new Error("Refused"));
          }
          for (const id of idsOf(records)) ledger.add(id);
          return Promise.resolve();
        };
        for (const what of steps) {
          if (what === "put") {
            const id = String(sent++).padStart(2, "0");
            underWay.push(spool.put(delivery(id)).then(() => kept.add(id)));
          } else if (what === "drain") {
            underWay.push(spool.drain(append).catch(() => {}));
          } else {
            await Promise.all(underWay.splice(0));
            disk.crash(surviving);
            spool = await open(disk, limits);
          }
        }
        await Promise.all(underWay);
        appends = 20;
        await spool.drain(append);
        await spool.close();
        assert.deepEqual([...ledger].sort(), [...kept].sort());
        assert.equal(disk.files.size, 0);
      },
    ),
    { numRuns: tries(150) },
  );
});
