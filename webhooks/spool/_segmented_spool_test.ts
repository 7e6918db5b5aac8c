import fc from "fast-check";
import assert from "node:assert/strict";
import { type SegmentDamage, SegmentedSpool } from "./_segmented_spool.ts";
import type { SegmentFile, SpoolDisk } from "./_spool_disk.ts";
import { encodeRecord } from "./_spool_records.ts";
import type { Delivery } from "../../core/wire/delivery.ts";
import { SpoolError } from "./spool_error.ts";

interface Stored {
  durable: Uint8Array;
  written: Uint8Array;
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
  /** Waited for in the middle of each write. */
  writing: Promise<void> = Promise.resolve();
  #life = 0;

  crash(surviving: number): void {
    this.#life++;
    this.failAt = null;
    this.dead = false;
    for (const file of this.files.values()) {
      const kept = file.durable.length +
        Math.floor((file.written.length - file.durable.length) * surviving);
      file.written = file.written.slice(0, kept);
      file.durable = file.written;
      file.holder = null;
    }
  }

  open(): SpoolDisk {
    const life = ++this.#life;
    return {
      list: () => this.#step(() => [...this.files.keys()].toReversed()),
      create: (name) =>
        this.#step(() => {
          assert(!this.files.has(name));
          const empty = new Uint8Array();
          const file = { durable: empty, written: empty, holder: life };
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
    return {
      write: async (bytes) => {
        await this.writing;
        await this.#step(() => {
          file.written = joined(file.written, bytes);
        }, () => {
          const half = bytes.slice(0, bytes.length >> 1);
          file.written = joined(file.written, half);
        });
      },
      sync: () =>
        this.#step(() => {
          this.syncs++;
          file.durable = file.written;
        }),
      read: () => this.#step(() => file.written.slice()),
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

  async #step<T>(work: () => T, partly = (): void => {}): Promise<T> {
    await Promise.resolve();
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

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

let names = 0;
function open(
  disk: ShakyDisk,
  limits: { segmentBytes?: number; maxBytes?: number } = {},
  damage: SegmentDamage[] = [],
): Promise<SegmentedSpool> {
  return SegmentedSpool.open({
    disk: disk.open(),
    newName: () => String(++names).padStart(9, "0"),
    maxBytes: limits.maxBytes ?? 1e9,
    segmentBytes: limits.segmentBytes ?? 1e9,
    onDamage: (one) => damage.push(one),
  });
}

function delivery(id: string): Delivery {
  return {
    id,
    receivedAt: "2026-11-20T12:00:00.000Z",
    body: new TextEncoder().encode(`{"n":"${id}"}`),
  };
}

/** Ids that a spool hands over, in order. */
async function drained(spool: SegmentedSpool): Promise<string[]> {
  const ids: string[] = [];
  await spool.drain((one) => {
    assert.deepEqual(one, delivery(one.id));
    ids.push(one.id);
    return Promise.resolve();
  });
  return ids;
}

const RECORD_BYTES = encodeRecord(delivery("00")).length;
const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(index).padStart(2, "0"));

Deno.test("SegmentedSpool appends every delivery once, in order", async () => {
  for (const segmentBytes of [1, RECORD_BYTES, 3 * RECORD_BYTES, 1e9]) {
    const disk = new ShakyDisk();
    const spool = await open(disk, { segmentBytes });
    for (const id of ids(10)) await spool.put(delivery(id));
    assert.equal(spool.depth, 10);
    assert.equal(spool.bytes, 10 * RECORD_BYTES);
    assert.deepEqual(await drained(spool), ids(10));
    assert.deepEqual(await drained(spool), []);
    assert.equal(spool.depth, 0);
    assert.equal(disk.files.size, 0);
    await spool.close();
  }
});

Deno.test("put() shares an fsync among concurrent deliveries", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await Promise.all(ids(50).map((id) => spool.put(delivery(id))));
  assert(disk.syncs <= 2, `${disk.syncs} fsyncs`);
  assert.deepEqual(await drained(spool), ids(50));
  await spool.close();
});

Deno.test("put() resolves only after the fsync", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  disk.crash(0);
  const next = await open(disk);
  assert.deepEqual(await drained(next), ["00"]);
  await next.close();
});

Deno.test("drain() stops at a failed append, and resumes there", async () => {
  const spool = await open(new ShakyDisk(), { segmentBytes: 3 * RECORD_BYTES });
  for (const id of ids(8)) await spool.put(delivery(id));
  const taken = new Set<string>();
  const refused = new Set<string>();
  const append = (one: Delivery): Promise<void> => {
    if (!refused.has(one.id)) {
      refused.add(one.id);
      return Promise.reject(new Error(`Refused ${one.id}`));
    }
    taken.add(one.id);
    return Promise.resolve();
  };
  let failures = 0;
  for (; refused.size < 8; failures++) {
    const before = ids(8).findIndex((id) => !refused.has(id));
    await assert.rejects(spool.drain(append), {
      message: `Refused ${ids(8)[before]}`,
    });
    // What was taken before the first that was refused is not kept.
    assert.equal(spool.depth, 8 - before);
    assert.deepEqual([...taken].sort(), ids(8).slice(0, before));
  }
  assert.ok(failures > 1);
  assert.ok(await spool.drain(append) > 0);
  assert.deepEqual([...taken].sort(), ids(8));
  assert.equal(spool.depth, 0);
  await spool.close();
});

Deno.test("drain() appends more and more at a time, oldest first", async () => {
  const spool = await open(new ShakyDisk(), { segmentBytes: 1 << 20 });
  await Promise.all(ids(99).map((id) => spool.put(delivery(id))));
  const seen: string[] = [];
  const groups: number[] = [];
  let waiting = 0;
  assert.equal(
    await spool.drain(async (one) => {
      seen.push(one.id);
      waiting++;
      await Promise.resolve();
      if (waiting > 0) groups.push(waiting);
      waiting = 0;
    }),
    99,
  );
  assert.deepEqual(groups, [1, 2, 4, 8, 16, 32, 36]);
  assert.deepEqual(seen, ids(99));
  await spool.close();
});

Deno.test("drain() appends at most a megabyte at a time, and one delivery however large", async () => {
  const spool = await open(new ShakyDisk(), {
    maxBytes: 8 << 20,
    segmentBytes: 8 << 20,
  });
  const sizes = [300_000, 300_000, 500_000, 300_000, 1_200_000, 9, 9];
  for (const [at, size] of sizes.entries()) {
    const one = delivery(`D${at}`);
    await spool.put({ ...one, body: new Uint8Array(size) });
  }
  const seen: number[] = [];
  const groups: number[][] = [];
  let group: number[] = [];
  await spool.drain(async ({ body }) => {
    seen.push(body.length);
    group.push(body.length);
    await Promise.resolve();
    if (group.length > 0) groups.push(group);
    group = [];
  });
  assert.deepEqual(seen, sizes);
  assert.deepEqual(groups, [
    [300_000],
    [300_000, 500_000],
    [300_000],
    [1_200_000],
    [9, 9],
  ]);
  await spool.close();
});

Deno.test("drain() appends deliveries that are put meanwhile", async () => {
  const spool = await open(new ShakyDisk());
  await spool.put(delivery("00"));
  const seen: string[] = [];
  await spool.drain(async (one) => {
    seen.push(one.id);
    if (seen.length < 5) await spool.put(delivery(`0${seen.length}`));
  });
  assert.deepEqual(seen, ids(5));
  await spool.close();
});

Deno.test("drain() waits for a record that is being written", async () => {
  const disk = new ShakyDisk();
  const spool = await open(disk);
  await spool.put(delivery("00"));
  const seen: string[] = [];
  const pause = (): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve));
  let putting: Promise<void> | null = null;
  await spool.drain(async (one) => {
    seen.push(one.id);
    if (putting !== null) return;
    disk.writing = pause().then(pause);
    putting = spool.put(delivery("01"));
    while (disk.files.size < 2) await Promise.resolve();
  });
  await putting;
  await spool.drain((one) => {
    seen.push(one.id);
    return Promise.resolve();
  });
  assert.deepEqual(seen, ids(2));
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
      await spool.drain((one) => {
        ledger.add(one.id);
        return Promise.resolve();
      }).catch((error) => assert(error instanceof SpoolError));
    }
    for (const id of kept) assert(ledger.has(id), `${id} lost, n = ${n}`);
    assert.equal(spool.depth, 0);
    failed = disk.operations > n;
    disk.failAt = null;
    // Nothing was written after the failure, so nothing counts as damaged.
    await spool.drain(() => Promise.resolve());
    assert.deepEqual([...disk.files.keys()], []);
    await spool.close();
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
      const append = (one: Delivery): Promise<void> => {
        ledger.push(one.id);
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
  assert.deepEqual(await drained(second), ["02"]);
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
  const intact = file.written;

  file.written = intact.slice(0, -1);
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

  file.written = intact.with(20, 0);
  disk.files.set(name, file);
  const damaged: SegmentDamage[] = [];
  const afterRot = await open(disk, {}, damaged);
  assert.deepEqual(await drained(afterRot), ["01"]);
  await afterRot.close();
  assert.equal(damaged.length, 1);
  assert.equal(damaged[0]?.torn, false);
  assert.deepEqual([...disk.files.keys()], [`${name}.damaged`]);
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
        const append = (one: Delivery): Promise<void> => {
          if (failures[appends++ % failures.length] && appends < 20) {
            return Promise.reject(new Error("Refused"));
          }
          ledger.add(one.id);
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
    { numRuns: 150 },
  );
});
