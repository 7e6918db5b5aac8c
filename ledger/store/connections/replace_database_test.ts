import assert from "node:assert/strict";
import { LedgerError } from "../database.ts";
import { EventLog } from "../events.ts";
import { openDriver } from "../../thread/open_driver.ts";
import { replaceDatabase } from "../files.ts";
import { prepare, storedIds, testEvent } from "../../testing/test_events.ts";
import { startProgram } from "../../testing/start_program.ts";
import { temporaryFolder } from "../../../tests/kit/temporary_folder.ts";

/** A ledger with one event. */
async function make(path: string, number: number): Promise<void> {
  const driver = await openDriver({ url: `file:${path}`, worker: false });
  await prepare(driver);
  await new EventLog(driver).append([testEvent(number)]);
  await driver.close();
}

/**
 * The same by another process. Here a connection would be there until garbage
 * is collected, whatever closed it.
 */
async function makeElsewhere(path: string, number: number): Promise<void> {
  const own = startProgram(import.meta.url, path, String(number));
  const { success } = await own.output();
  assert.ok(success);
}

function names(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

const options = (folder: string) => ({
  path: `${folder}/ledger.db`,
  by: `${folder}/new.db`,
  previousFile: `${folder}/old.db`,
});

const [path, number] = Deno.args;
if (import.meta.main && path !== undefined) await make(path, Number(number));
else tests();

function tests(): void {
  Deno.test("replaceDatabase() swaps the files and keeps the old one", async () => {
    await using folder = await temporaryFolder();
    const { path, by, previousFile } = options(folder.path);
    await makeElsewhere(path, 1);
    await make(by, 2);
    assert.equal(replaceDatabase({ path, by, previousFile }), true);
    assert.deepEqual(names(folder.path), ["ledger.db", "old.db"]);
    assert.deepEqual(await storedIds(`file:${path}`), [testEvent(2).eventId]);
    assert.deepEqual(await storedIds(`file:${previousFile}`), [
      testEvent(1).eventId,
    ]);
  });

  Deno.test("replaceDatabase() refuses while anybody has the old one open", async () => {
    await using folder = await temporaryFolder();
    const { path, by, previousFile } = options(folder.path);
    const driver = await openDriver({ url: `file:${path}` });
    await prepare(driver);
    await new EventLog(driver).append([testEvent(1)]);
    await make(by, 2);
    assert.throws(
      () => replaceDatabase({ path, by, previousFile }),
      (error) => error instanceof LedgerError && error.code === "busy",
    );
    await new EventLog(driver).append([testEvent(3)]);
    await driver.close();
    assert.deepEqual(
      await storedIds(`file:${path}`),
      [1, 3].map((n) => testEvent(n).eventId),
    );
  });

  Deno.test("replaceDatabase() keeps the log of a process that was killed with its database", async () => {
    await using folder = await temporaryFolder();
    const { path, by, previousFile } = options(folder.path);
    const driver = await openDriver({ url: `file:${folder.path}/live.db` });
    await prepare(driver);
    await new EventLog(driver).append([testEvent(1)]);
    // What a killed process leaves: its last event is in the log alone.
    for (const end of ["", "-wal"]) {
      Deno.copyFileSync(`${folder.path}/live.db${end}`, path + end);
    }
    await driver.close();
    await make(by, 2);
    replaceDatabase({ path, by, previousFile });
    assert.deepEqual(await storedIds(`file:${path}`), [testEvent(2).eventId]);
    assert.deepEqual(await storedIds(`file:${previousFile}`), [
      testEvent(1).eventId,
    ]);
  });

  Deno.test("replaceDatabase() never gives the new database the log of a damaged one", async () => {
    await using folder = await temporaryFolder();
    const { path, by, previousFile } = options(folder.path);
    await Deno.writeTextFile(path, "this is no database ".repeat(500));
    await Deno.writeTextFile(`${path}-wal`, "nor is this its log");
    await make(by, 2);
    replaceDatabase({ path, by, previousFile });
    assert.deepEqual(await storedIds(`file:${path}`), [testEvent(2).eventId]);
    assert.equal(
      await Deno.readTextFile(`${previousFile}-wal`),
      "nor is this its log",
    );
  });

  Deno.test("replaceDatabase() takes an empty place, whatever log was left there", async () => {
    await using folder = await temporaryFolder();
    const { path, by, previousFile } = options(folder.path);
    await make(by, 2);
    await Deno.writeTextFile(`${path}-wal`, "left behind");
    assert.equal(replaceDatabase({ path, by, previousFile }), false);
    assert.deepEqual(await storedIds(`file:${path}`), [testEvent(2).eventId]);
  });
}
