import assert from "node:assert/strict";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { orderRead } from "../../ledger/testing/projection_test_kit.ts";
import type { LogEvent } from "../monitoring/logger.ts";
import {
  backupName,
  backupsAmong,
  RegularBackups,
  unfinishedAmong,
} from "./regular_backups.ts";
import { existsSync } from "node:fs";
import { until } from "../../tests/kit/until.ts";

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 20, 9);

/** A ledger in a folder, backups beside it, and a clock to set. */
async function world(filled = true) {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-backups-" });
  const database = `${folder}/ledger.db`;
  const open = () =>
    openLedger({
      url: `file:${database}`,
      environment: "sandbox",
      worker: false,
    });
  {
    await using ledger = await open();
    if (filled) await fill(ledger);
  }
  const log: LogEvent[] = [];
  const ages: unknown[] = [];
  const at = { ms: START };
  const directory = `${folder}/backups`;
  const backups = new RegularBackups({
    database,
    open,
    directory,
    everyMs: 6 * HOUR,
    keep: 2,
    log: (_level, event) => log.push(event),
    metrics: { backup: (state) => ages.push(state) },
    now: () => at.ms,
  });
  return {
    backups,
    at,
    log,
    ages,
    open,
    database,
    directory,
    files: () =>
      Array.from(Deno.readDirSync(directory), ({ name }) => name).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

function fill(ledger: Ledger): Promise<unknown> {
  return ledger.append([orderRead(1, { orderId: "O1", status: "created" })]);
}

const never = new AbortController().signal;

Deno.test("RegularBackups.once() verifies each copy, keeps the newest and nothing half made", async () => {
  await using made = await world();
  const { backups, at, directory } = made;
  await backups.once(never);
  // What a process that was killed has left, and a file of somebody else's.
  const killed = `${directory}/${backupName(START)}.partial`;
  Deno.mkdirSync(killed);
  Deno.writeTextFileSync(`${killed}/copy.db`, "half");
  Deno.writeTextFileSync(`${directory}/notes.txt`, "mine");
  for (let more = 1; more <= 2; more++) {
    at.ms = START + more * 7 * HOUR;
    await backups.once(never);
  }
  assert.deepEqual(made.files(), [
    "notes.txt",
    backupName(START + 7 * HOUR),
    backupName(START + 14 * HOUR),
  ]);
  assert.deepEqual(made.log, ["backup_made", "backup_made", "backup_made"]);
  const newest = `${directory}/${backupName(at.ms)}`;
  assert.equal(((await Deno.stat(newest)).mode ?? 0) & 0o777, 0o600);
  await using copy = await openLedger({ url: `file:${newest}`, worker: false });
  assert.equal((await copy.verify()).ok, true);
});

Deno.test("RegularBackups.run() waits for the first events, and a restart makes one that is due", async () => {
  await using made = await world(false);
  const { at, log } = made;
  const runUntil = async (done: () => boolean | Promise<boolean>) => {
    const stop = new AbortController();
    const running = made.backups.run(stop.signal);
    await until(done);
    stop.abort();
    await running;
  };
  await runUntil(() => made.ages.length > 0);
  await made.backups.once(never);
  assert.deepEqual(log, []);
  assert.ok(!existsSync(made.directory), "nothing is made of no events");
  await using ledger = await made.open();
  await fill(ledger);
  await runUntil(() => log.length === 1);
  await using copy = await openLedger({
    url: `file:${made.directory}/${made.files()[0]}`,
    worker: false,
  });
  assert.equal((await copy.stats()).position, 1);
  // It was due while no process ran.
  at.ms += 7 * HOUR;
  await runUntil(() => log.length === 2);
  assert.deepEqual(log, ["backup_made", "backup_made"]);
});

Deno.test("RegularBackups.run() makes none while the newest is fresh, and alarms until one is made again", async () => {
  await using made = await world();
  const { backups, at, database, directory } = made;
  const round = async () => {
    const stop = new AbortController();
    const running = backups.run(stop.signal);
    const logged = made.log.length;
    await until(() => made.log.length > logged);
    stop.abort();
    await running;
  };
  await round();
  assert.deepEqual(made.log, ["backup_made"]);
  at.ms += 5 * HOUR;
  const stopped = AbortSignal.abort();
  await backups.run(stopped);
  assert.equal(made.files().length, 1);
  // Another file in the ledger's place is not copied, and nothing is removed.
  at.ms += 2 * HOUR;
  await Deno.rename(database, `${database}.old`);
  await round();
  assert.deepEqual(made.log.slice(1), ["backup_failing"]);
  assert.equal(made.files().length, 1);
  await Deno.rename(`${database}.old`, database);
  await backups.once(never);
  assert.deepEqual(made.log.slice(2), ["backup_recovered", "backup_made"]);
  assert.deepEqual(
    backupsAmong(made.files()).map(({ at }) => at),
    [START + 7 * HOUR, START],
  );
  assert.ok(directory.endsWith("backups"));
});

Deno.test("backupsAmong() reads the names that backupName() writes, and no other", () => {
  const names = [START, START + HOUR].map(backupName);
  assert.equal(names[0], "rampkit-20261120T090000Z.db");
  const others = ["rampkit.db", "rampkit-20261320T090000Z.db", `${names[1]}x`];
  assert.deepEqual(
    backupsAmong([...others, ...names]).map(({ name }) => name),
    names.toReversed(),
  );
  const partial = names.map((name) => `${name}.partial`);
  assert.deepEqual(unfinishedAmong([...partial, ...names], START + 1), [
    names[0],
  ]);
});
