import assert from "node:assert/strict";
import type { Driver } from "../database.ts";
import { failsWith } from "../../testing/fails_with.ts";
import { EventLog } from "../events.ts";
import { openDriver } from "../../thread/open_driver.ts";
import { prepare, storedEvents, testEvent } from "../../testing/test_events.ts";
import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";

async function withLedgerFile(
  worker: boolean,
  test: (
    parts: { path: string; driver: Driver; log: EventLog },
  ) => Promise<void>,
): Promise<void> {
  await using directory = await temporaryFolder();
  const path = `${directory.path}/ledger.db`;
  // Closing writes the log back, so that the file has more than its header.
  const maker = await openDriver({ url: `file:${path}`, worker: false });
  await prepare(maker);
  await maker.close();
  const driver = await openDriver({ url: `file:${path}`, worker });
  try {
    await test({ path, driver, log: new EventLog(driver) });
  } finally {
    await driver.close();
  }
}

const isReplaced = failsWith("replaced");

/** Ways in which a file in use stops being the one that a path leads to. */
const changes: Readonly<Record<string, (path: string) => void>> = {
  "removed": (path) => Deno.removeSync(path),
  "removed with its log": (path) => {
    for (const end of ["", "-wal", "-shm"]) Deno.removeSync(path + end);
  },
  "replaced by a copy": (path) => {
    Deno.copyFileSync(path, `${path}.copy`);
    Deno.renameSync(`${path}.copy`, path);
  },
  "overwritten by a smaller one": (path) =>
    Deno.writeFileSync(path, Deno.readFileSync(path).subarray(0, 4096)),
  "left without its log": (path) => Deno.removeSync(`${path}-wal`),
};

for (const worker of [false, true]) {
  const where = worker ? "in a thread" : "on the calling thread";
  for (const [what, change] of Object.entries(changes)) {
    Deno.test(`append() to a file that was ${what} fails, for good (${where})`, () =>
      withLedgerFile(worker, async ({ path, driver, log }) => {
        await log.append([testEvent(1)]);
        change(path);
        await assert.rejects(log.append([testEvent(2)]), isReplaced);
        await assert.rejects(log.append([testEvent(3)]), isReplaced);
        await assert.rejects(
          driver.batch([{ sql: "SELECT 1", args: [] }], "read"),
          isReplaced,
        );
        await assert.rejects(
          driver.copyTo?.(`${path}.backup`) ?? Promise.resolve(),
          isReplaced,
        );
      }));
  }
}

Deno.test("append() does not take up a file that came while an error had closed the old one", () =>
  withLedgerFile(false, async ({ path, driver, log }) => {
    await log.append([testEvent(1)]);
    // Anything but a refused row closes the connection.
    await assert.rejects(
      driver.batch([{ sql: "SELECT * FROM nowhere", args: [] }], "read"),
    );
    changes["replaced by a copy"]?.(path);
    await assert.rejects(log.append([testEvent(2)]), isReplaced);
  }));

Deno.test("append() goes on after an error while the file is the same, and beside other connections", () =>
  withLedgerFile(false, async ({ path, driver, log }) => {
    await assert.rejects(
      driver.batch([{ sql: "SELECT * FROM nowhere", args: [] }], "read"),
    );
    await log.append([testEvent(1)]);
    const other = await openDriver({ url: `file:${path}`, worker: false });
    await new EventLog(other).append([testEvent(2)]);
    await other.close();
    await log.append([testEvent(3)]);
    assert.equal((await storedEvents(driver)).length, 3);
  }));

Deno.test("openDriver() and backup() make files that only their owner can read, whatever the umask", () => {
  const before = Deno.umask(0o000);
  return withLedgerFile(false, async ({ path, driver, log }) => {
    await log.append([testEvent(1)]);
    await driver.copyTo?.(`${path}.backup`);
    for (const end of ["", "-wal", "-shm", ".backup"]) {
      const { mode } = await Deno.stat(path + end);
      assert.equal((mode ?? 0) & 0o777, 0o600, end);
    }
  }).finally(() => Deno.umask(before));
});
