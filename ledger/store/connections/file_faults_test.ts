import assert from "node:assert/strict";
import type { Driver } from "../database.ts";
import { failsWith } from "../../testing/fails_with.ts";
import { EventLog } from "../events.ts";
import { FileDriver } from "./file_driver.ts";
import { openDriver, ThreadDriver } from "../../thread/open_driver.ts";
import {
  prepare,
  storedEvents,
  storedIds,
  testEvent,
  testEvents,
} from "../../testing/test_events.ts";
import { startProgram } from "../../testing/start_program.ts";
import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";

/** It is killed in the end, which frees the lock. */
interface Holder extends AsyncDisposable {
  /** Resolves when the lock was taken for the first time. */
  readonly held: Promise<void>;
  /** Whether it has ended, which it does not before it is told to. */
  ended(): boolean;
}

function holdLock(path: string, ...o: [number, number, number]): Holder {
  const child = startProgram("test_lock_holder.ts", path, ...o.map(String));
  const reader = child.stdout.getReader();
  let ended = false;
  const ending = child.status.then(() => {
    ended = true;
  });
  return {
    held: reader.read().then(() => {}),
    ended: () => ended,
    [Symbol.asyncDispose]: async () => {
      if (!ended) child.kill("SIGKILL");
      while (!(await reader.read()).done);
      await ending;
    },
  };
}

Deno.test("append() waits while another process holds the lock, and the event loop runs on", async () => {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  const busyLimitMs = 120_000;
  const driver = await openDriver({ url: `file:${path}`, busyLimitMs });
  await prepare(driver);
  const log = new EventLog(driver);
  let appended = false;
  let appending: Promise<void>;
  {
    await using holder = holdLock(path, 600_000, 0, 1);
    await holder.held;
    appending = log.append(testEvents(3)).then(() => {
      appended = true;
    });
    for (let tick = 0; tick < 50; tick++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(!appended, "the lock was not held");
  }
  await appending;
  await driver.close();
  assert.equal((await storedIds(`file:${path}`)).length, 3);
});

Deno.test("append() gives up after the limit, and goes on when the lock is free", async () => {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  const url = `file:${path}`;
  const driver = await openDriver({ url, busyLimitMs: 150 });
  await prepare(driver);
  const log = new EventLog(driver);
  await log.append([testEvent(1)]);
  {
    await using holder = holdLock(path, 600_000, 0, 1);
    await holder.held;
    await assert.rejects(log.append([testEvent(2)]), failsWith("busy"));
  }
  await log.append([testEvent(3)]);
  await log.append([testEvent(4)]);
  await driver.close();
  assert.deepEqual(
    await storedIds(`file:${path}`),
    [1, 3, 4].map((number) => testEvent(number).eventId),
  );
});

for (const worker of [true, false]) {
  const where = worker ? "in a thread" : "on the caller's thread";
  Deno.test(`append() loses no answered event while another process keeps taking the lock (${where})`, async () => {
    await using directory = await temporaryFolder();
    const path = `${directory.path}/ledger.db`;
    const driver = await openDriver({
      url: `file:${path}`,
      worker,
      // So short that many appends fail, which is what leaves traces behind.
      busyLimitMs: 20,
      busyTimeoutMs: 5,
    });
    await prepare(driver);
    const log = new EventLog(driver);
    const answered: string[] = [];
    let refused = 0;
    {
      await using holder = holdLock(path, 60, 20, 100_000);
      await holder.held;
      for (
        let number = 0;
        answered.length < 20 || refused < 5;
        number++
      ) {
        assert.ok(!holder.ended(), "nobody takes the lock any more");
        // The other process has its turn as well.
        await new Promise((resolve) => setTimeout(resolve, 1));
        const event = testEvent(number);
        try {
          await log.append([event]);
          answered.push(event.eventId);
        } catch (error) {
          failsWith("busy")(error);
          refused++;
          // A caller may also try to read in between.
          await storedEvents(driver, "read").catch(failsWith("busy"));
        }
      }
    }
    await driver.close();
    assert.ok(answered.length > 0 && refused > 0, `${refused} refused`);
    assert.deepEqual(await storedIds(`file:${path}`), answered);
  });
}

Deno.test("append() refuses what does not fit when the disk is full, and keeps what was answered", async () => {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  const driver = new FileDriver({ path, busyTimeoutMs: 50, maxPages: 100 });
  await prepare(driver);
  const log = new EventLog(driver);
  const answered: string[] = [];
  let full = 0;
  for (let number = 0; number < 1000 && full < 3; number++) {
    const event = testEvent(number);
    try {
      await log.append([event]);
      answered.push(event.eventId);
    } catch (error) {
      failsWith("full")(error);
      full++;
    }
  }
  assert.equal(full, 3);
  assert.ok(answered.length > 10);
  assert.equal((await storedEvents(driver)).length, answered.length);
  await driver.close();
  assert.deepEqual(await storedIds(`file:${path}`), answered);
  const roomy = await openDriver({ url: `file:${path}`, worker: false });
  await new EventLog(roomy).append([testEvent(5000)]);
  await roomy.close();
});

/** A database thread that ends when it sees `die` in a statement. */
function mortalThread(when: "before" | "after"): URL {
  const source = `
    import ${
    JSON.stringify(import.meta.resolve("../../thread/database_thread.ts"))
  };
    const work = self.onmessage;
    self.onmessage = (message) => {
      const die = message.data.call === "batch" &&
        message.data.args[0].some(({ args }) => args.includes("die"));
      if (die && ${when === "before"}) throw new Error("struck down");
      work(message);
      if (die) throw new Error("struck down");
    };`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

for (const when of ["before", "after"] as const) {
  Deno.test(`batch() fails when the database thread dies ${when} the commit, and starts another thread`, async () => {
    await using directory = await temporaryFolder();
    const path = `${directory.path}/ledger.db`;
    const driver = new ThreadDriver({
      path,
      busyTimeoutMs: 50,
      module: mortalThread(when),
    });
    await prepare(driver);
    const log = new EventLog(driver);
    await log.append([testEvent(1)]);
    const outcomes = await Promise.allSettled([
      driver.batch([{ sql: "SELECT ?", args: ["die"] }], "read"),
      driver.batch([{ sql: "SELECT 1", args: [] }], "read"),
    ]);
    // What was answered before the end may still arrive.
    const [first, second] = outcomes;
    assert.ok(second?.status === "rejected");
    failsWith("crashed")(second.reason);
    if (when === "before") {
      assert.ok(first?.status === "rejected");
      failsWith("crashed")(first.reason);
    }
    await log.append([testEvent(2), testEvent(1)]);
    await driver.close();
    assert.deepEqual(
      await storedIds(`file:${path}`),
      [1, 2].map((number) => testEvent(number).eventId),
    );
  });
}

Deno.test("append() whose thread dies is asked again and stored once", async () => {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  const inner = new ThreadDriver({
    path,
    busyTimeoutMs: 50,
    module: mortalThread("after"),
  });
  await prepare(inner);
  let deaths = 0;
  const driver: Driver = {
    location: "file",
    batch: (statements, mode) =>
      inner.batch(
        deaths++ === 0
          ? [...statements, { sql: "SELECT ?", args: ["die"] }]
          : statements,
        mode,
      ),
    close: () => inner.close(),
  };
  const log = new EventLog(driver);
  await log.append([testEvent(1)]);
  await log.append([testEvent(2)]);
  await driver.close();
  assert.deepEqual(
    await storedIds(`file:${path}`),
    [1, 2].map((number) => testEvent(number).eventId),
  );
});

Deno.test("close() finishes what was asked before", async () => {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  const driver = await openDriver({ url: `file:${path}` });
  await prepare(driver);
  const log = new EventLog(driver);
  const appending = testEvents(100).map((event) => log.append([event]));
  await log.close();
  await driver.close();
  await Promise.all(appending);
  assert.equal((await storedIds(`file:${path}`)).length, 100);
});
