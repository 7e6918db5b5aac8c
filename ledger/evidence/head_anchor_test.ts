import assert from "node:assert/strict";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../open_ledger.ts";
import { testEvents } from "../testing/test_events.ts";
import { openDriver } from "../thread/open_driver.ts";
import {
  anchorFilePath,
  announceRestore,
  HeadAnchor,
  readAnchor,
  resetAnchor,
} from "./anchor_file.ts";
import type { ChainBreak } from "./evidence.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

async function inFolder(
  work: (url: string, path: string) => Promise<void>,
): Promise<void> {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/ledger.db`;
  await work(`file:${path}`, path);
}

function open(url: string): Promise<Ledger> {
  return openLedger({ url, environment: "sandbox", worker: false });
}

/** A closed ledger of some events, of which the last three are sealed apart. */
async function made(url: string, events = 10): Promise<void> {
  await using ledger = await open(url);
  for (const part of [testEvents(events - 3), testEvents(3, events - 3)]) {
    await ledger.append(part);
    await ledger.project();
  }
}

async function tamper(url: string, ...statements: string[]): Promise<void> {
  const driver = await openDriver({ url, worker: false });
  await driver.batch(statements.map((sql) => ({ sql, args: [] })), "write");
  await driver.close();
}

/** What goes on after tampering: events come, and somebody projects. */
async function goOn(url: string): Promise<ChainBreak | null> {
  await using ledger = await open(url);
  await ledger.append(testEvents(3, 100));
  const { chain, stopped } = await ledger.project();
  assert.equal(stopped, null);
  assert.equal(await ledger.lag(), 0, "states do not wait for evidence");
  return chain.broken;
}

async function verified(url: string) {
  await using ledger = await openLedger({ url, readOnly: true, worker: false });
  return await ledger.verify();
}

/** Cuts the last three events off, and all that tells of them. */
const CUT = [
  "DELETE FROM events WHERE position > 7",
  "DELETE FROM seals WHERE last_position > 7",
  "UPDATE ledger SET position = 7",
];

/** Takes the evidence away, and has it made anew. */
const ANEW = ["DELETE FROM seals", "UPDATE ledger SET position = 0"];

const tampering: Record<
  string,
  readonly [{ code: string; events: number; chained?: number }, ...string[]]
> = {
  "the seals removed": [{ code: "chain_gone", events: 10 }, ...ANEW],
  "the seals and an event removed": [
    { code: "chain_gone", events: 10 },
    ...ANEW,
    "DELETE FROM events WHERE position = 4",
  ],
  "a tail cut off with its seals": [
    { code: "fewer_than_anchored", events: 10, chained: 7 },
    ...CUT,
  ],
};

for (const [what, [reason, ...statements]] of Object.entries(tampering)) {
  Deno.test(`Ledger.verify() finds ${what}, and nothing that comes later hides it`, async () => {
    await inFolder(async (url) => {
      await made(url);
      await tamper(url, ...statements);
      const found = await verified(url);
      assert.deepEqual([found.ok, found.damage], [false, "unexpected"]);
      const anchoredAt = found.anchoredHead?.anchoredAt;
      assert.deepEqual(found.reason, { ...reason, anchoredAt });
      assert.deepEqual(found.anchors, ["stored"]);
      const broken = await goOn(url);
      assert.ok(broken !== null && broken.code !== "other_ledger");
      assert.deepEqual([broken.events, broken.position], [10, 10]);
      const later = await verified(url);
      assert.deepEqual([later.ok, later.damage], [false, "unexpected"]);
      assert.equal(later.reason?.code, "other_hash_than_anchored");
    });
  });
}

Deno.test("Ledger.verify() finds a chain that was computed anew over altered events", async () => {
  await inFolder(async (url, path) => {
    await made(url);
    const place = anchorFilePath(path);
    await Deno.rename(place, `${place}.aside`);
    await tamper(url, ...ANEW, "DELETE FROM events WHERE position = 4");
    assert.equal(await goOn(url), null);
    assert.equal((await verified(url)).ok, true, "without the anchored head");
    await Deno.rename(`${place}.aside`, place);
    const found = await verified(url);
    assert.equal(found.damage, "unexpected");
    assert.equal(found.reason?.code, "other_hash_than_anchored");
  });
});

Deno.test("Ledger.verify() finds another ledger in the place of one", async () => {
  await inFolder(async (url, path) => {
    await made(url);
    await Deno.remove(path);
    await made(url);
    const found = await verified(url);
    assert.equal(found.ok, false);
    assert.equal(found.reason?.code, "anchored_head_of_other_ledger");
    assert.equal((await goOn(url))?.code, "other_ledger");
  });
});

Deno.test("Ledger.verify() says what it was held against", async () => {
  await inFolder(async (url, path) => {
    await made(url);
    const kept = await verified(url);
    assert.deepEqual([kept.anchors, kept.anchoredHead?.events], [
      ["stored"],
      10,
    ]);
    assert.equal(kept.anchoredHead?.hash, kept.hash);
    await Deno.remove(anchorFilePath(path));
    const none = await verified(url);
    assert.deepEqual([none.ok, none.anchors, none.anchoredHead], [
      true,
      [],
      null,
    ]);
    await using ledger = await emptyLedger({ environment: "x" });
    assert.deepEqual((await ledger.verify()).anchors, []);
  });
});

Deno.test("Ledger.verify() refuses an anchored head that was made unreadable", async () => {
  await inFolder(async (url, path) => {
    await made(url);
    await Deno.writeTextFile(anchorFilePath(path), '{"head":{"events":1}}');
    const found = await verified(url);
    assert.equal(found.damage, "unexpected");
    assert.ok(found.reason?.code === "anchored_head_unreadable");
    assert.match(found.reason.error, /cannot be understood: .*-chain$/);
    // It is not overwritten, and the chain goes on.
    assert.equal(await goOn(url), null);
    assert.equal((await verified(url)).chained, 13);
    assert.equal((await verified(url)).ok, false);
  });
});

Deno.test("resetAnchor() gives the head up, records it, and the chain is kept anew", async () => {
  await inFolder(async (url, path) => {
    await resetAnchor(path);
    assert.deepEqual((await readAnchor(path)).resets, []);
    await made(url);
    const before = await verified(url);
    await tamper(url, ...CUT);
    const now = () => Date.parse("2026-11-20T08:00:00.000Z");
    await resetAnchor(path, { now });
    const { resets } = await readAnchor(path);
    assert.deepEqual(resets, [{
      at: "2026-11-20T08:00:00.000Z",
      events: 10,
      hash: before.hash,
    }]);
    assert.equal(await goOn(url), null);
    const after = await verified(url);
    assert.deepEqual([after.ok, after.anchoredHead?.events], [true, 10]);
    assert.deepEqual(after.resets, resets);
  });
});

Deno.test("announceRestore() gives the head up once the announced file is in the ledger's place, and never before", async () => {
  await inFolder(async (url, path) => {
    const now = () => Date.parse("2026-11-20T08:00:00.000Z");
    const by = `${path}.restoring`;
    await made(url, 4);
    await Deno.copyFile(path, by);
    await announceRestore(path, by, { now });
    assert.equal(await goOn(url), null);
    const { hash } = await verified(url);
    await announceRestore(path, by, { now });
    await announceRestore(path, null);
    await Deno.copyFile(by, `${path}.aside`);
    await announceRestore(path, `${path}.aside`, { now });
    assert.equal((await verified(url)).anchoredHead?.events, 7);
    await Deno.rename(by, path);
    const other = await verified(url);
    assert.equal(other.reason?.code, "fewer_than_anchored", "not that file");
    await Deno.rename(`${path}.aside`, path);
    const found = await verified(url);
    assert.deepEqual([found.ok, found.anchoredHead], [true, null]);
    const reset = { at: "2026-11-20T08:00:00.000Z", events: 7, hash };
    assert.deepEqual(found.resets, [reset]);
    assert.equal(await goOn(url), null);
    const later = await verified(url);
    assert.deepEqual([later.anchoredHead?.events, later.resets], [7, [reset]]);
  });
});

Deno.test("the anchored head is for its owner alone, and leaves nothing else behind", async () => {
  await inFolder(async (url, path) => {
    await made(url);
    const { mode } = await Deno.stat(anchorFilePath(path));
    assert.equal((mode ?? 0) & 0o777, 0o600);
    const folder = path.replace(/\/[^/]*$/, "");
    const files = (await Array.fromAsync(Deno.readDir(folder)))
      .map(({ name }) => name).filter((name) => name.includes("chain"));
    assert.deepEqual(files, ["ledger.db-chain"]);
  });
});

function anchorOf(database: string, elapsed: () => number): HeadAnchor {
  return new HeadAnchor({
    ...{ database, ledgerId: "01", now: () => 0, readOnly: false, elapsed },
  });
}

function headAt(events: number) {
  return { position: events, events, hash: "00".repeat(32) };
}

Deno.test("HeadAnchor.save() writes at most once a second, and flush() the rest", async () => {
  await inFolder(async (_, path) => {
    let ms = 0;
    const anchor = anchorOf(path, () => ms);
    const written = new Set<number | undefined>();
    const look = async () => written.add((await readAnchor(path)).head?.events);
    for (let events = 1; events <= 25; events++) {
      ms = events * 100;
      await anchor.save(headAt(events));
      await look();
    }
    await anchor.flush();
    await look();
    assert.deepEqual([...written], [1, 11, 21, 25]);
    // An older head of a slower process does not take its place.
    ms += 5000;
    await anchor.save(headAt(3));
    assert.equal((await readAnchor(path)).head?.events, 25);
  });
});

Deno.test("HeadAnchor.save() saves the same head again where it could not be written", async () => {
  await inFolder(async (_, path) => {
    const place = `${path}/later/ledger.db`;
    let ms = 0;
    const anchor = anchorOf(place, () => ms);
    await anchor.save(headAt(3));
    await Deno.mkdir(`${path}/later`, { recursive: true });
    ms = 2000;
    await anchor.save(headAt(3));
    assert.equal((await readAnchor(place)).head?.events, 3);
  });
});

Deno.test("heads of several that save at once leave one whole head", async () => {
  await inFolder(async (_, path) => {
    for (let time = 0; time < 20; time++) {
      const heads = [1, 10 ** 9, 2].map((head) => head + time);
      await Promise.all(
        heads.map((head) => anchorOf(path, () => 0).save(headAt(head))),
      );
      const { head, unreadable } = await readAnchor(path);
      assert.equal(unreadable, null);
      assert.ok(head !== null);
    }
    const folder = path.replace(/\/[^/]*$/, "");
    const files = (await Array.fromAsync(Deno.readDir(folder)))
      .map(({ name }) => name);
    assert.deepEqual(files, ["ledger.db-chain"]);
  });
});

Deno.test("Ledger.project() goes on where the head cannot be kept", async () => {
  await inFolder(async (url, path) => {
    await Deno.mkdir(anchorFilePath(path));
    await made(url);
    await using ledger = await open(url);
    assert.equal((await ledger.stats()).chain.count, 10);
    await assert.rejects(ledger.verify(), /cannot be read: .*-chain/);
    await assert.rejects(readAnchor(path), /cannot be read/);
  });
});
