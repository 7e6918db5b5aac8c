import assert from "node:assert/strict";
import { temporaryLedger } from "../../tests/kit/cli.ts";
import { backupName } from "../ledger_file/regular_backups.ts";
import { holdLedger } from "../ledger_file/ledger_lock.ts";
import { checkOf } from "../../resources/health/finding.ts";
import { lookAtBackups } from "./storage_health.ts";

/** The one check of a look. */
async function checked(options: Parameters<typeof lookAtBackups>[0]) {
  const [found] = await lookAtBackups(options);
  assert.ok(found !== undefined);
  return checkOf(found);
}

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 12);

/** A ledger's file, and folders of backups made so many hours ago. */
async function place(folders: Record<string, readonly number[]>) {
  const ledger = await temporaryLedger();
  await Deno.writeTextFile(`${ledger.folder}/ledger.db`, "");
  for (const [name, hours] of Object.entries(folders)) {
    await Deno.mkdir(`${ledger.folder}/${name}`);
    for (const ago of hours) {
      const file = `${ledger.folder}/${name}/${backupName(NOW - ago * HOUR)}`;
      await Deno.writeTextFile(file, "pages");
    }
  }
  const config = { databaseUrl: ledger.url };
  return {
    ...ledger,
    config,
    look: (directory?: string) => checked({ config, directory, nowMs: NOW }),
  };
}

Deno.test("lookAtBackups() finds the newest backup beside the ledger, and says when it is old", async () => {
  await using fresh = await place({ other: [], old: [100], backups: [9, 3] });
  const found = await fresh.look();
  assert.equal(found.status, "ok");
  assert.match(
    found.detail,
    /in .*\/backups, it was made 3 h ago, on the ledger's disk$/,
  );
  await using stale = await place({ backups: [30] });
  const late = await stale.look();
  assert.equal(late.status, "warn");
  assert.match(late.detail, /made 30 h ago/);
  assert.match(late.advice ?? "", /--backup-to; backup_failing/);
});

Deno.test("lookAtBackups() says where none is, and never fails for that", async () => {
  await using bare = await place({ notes: [] });
  const none = await bare.look();
  assert.equal(none.status, "skip");
  assert.match(none.advice ?? "", /serve --backup-to DIR .*doctor --backup-to/);
  for (const name of ["notes", "missing"]) {
    const empty = await bare.look(`${bare.folder}/${name}`);
    assert.equal(empty.status, "warn");
    assert.match(empty.detail, new RegExp(`^There is none yet: .*/${name}$`));
  }
  const remote = await checked({
    config: { databaseUrl: "libsql://ledger.example" },
    nowMs: NOW,
  });
  assert.equal(remote.status, "skip");
});

Deno.test("lookAtBackups() looks at the folder that was named, and fails where it cannot be read", async () => {
  await using made = await place({ backups: [1], elsewhere: [30] });
  const named = await made.look(`${made.folder}/elsewhere`);
  assert.deepEqual([named.status, /30 h/.test(named.detail)], ["warn", true]);
  const file = await made.look(`${made.folder}/ledger.db`);
  assert.equal(file.status, "fail");
  assert.match(file.detail, /cannot be read: .*ledger\.db/);
});

Deno.test("lookAtBackups() looks where the running serve makes them, by its own period", async () => {
  await using made = await place({ backups: [1], elsewhere: [13] });
  using serve = await holdLedger(made.config);
  const directory = `${made.folder}/elsewhere`;
  serve.announce({ directory, everyMs: 6 * HOUR });
  const late = await made.look();
  assert.equal(late.status, "warn");
  assert.match(late.detail, /elsewhere, it was made 13 h ago.*due every 6 h$/);
  serve.announce({ directory, everyMs: 24 * HOUR });
  assert.equal((await made.look()).status, "ok");
});

Deno.test("lookAtBackups() does not take an empty file or one of the future for a backup", async () => {
  await using made = await place({ backups: [-2], empty: [] });
  const ahead = await made.look(`${made.folder}/backups`);
  assert.equal(ahead.status, "warn");
  assert.match(ahead.detail, /is dated 2 h ahead of this clock/);
  await Deno.writeTextFile(`${made.folder}/empty/${backupName(NOW)}`, "");
  const empty = await made.look(`${made.folder}/empty`);
  assert.equal(empty.status, "warn");
  assert.match(empty.detail, /is empty$/);
  assert.match(empty.advice ?? "", /ledger verify/);
});
