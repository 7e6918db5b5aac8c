import assert from "node:assert/strict";
import { temporaryLedger } from "../../tests/kit/cli.ts";
import { LIMITS } from "../../resources/health/conditions.ts";
import { lookAtDisk, lookForPlace, writeRefusal } from "./storage_health.ts";

Deno.test("lookForPlace() finds a problem where no ledger can be made, and leaves nothing behind", async () => {
  await using place = await temporaryLedger();
  const [can] = await lookForPlace({ databaseUrl: place.url });
  assert.equal(can?.code, "ledger_missing");
  assert.deepEqual([...Deno.readDirSync(place.folder)], []);
  // Nobody may make a file in a file, not even who may do everything.
  await Deno.writeTextFile(`${place.folder}/file`, "");
  const [cannot] = await lookForPlace({
    databaseUrl: `file:${place.folder}/file/ledger.db`,
  });
  assert.equal(cannot?.code, "ledger_not_made");
  assert.match(
    cannot?.detail ?? "",
    /none can be made there: .*(ENOTDIR|directory)/i,
  );
});

Deno.test("writeRefusal() says why a file cannot be written, and nothing of one that can", async () => {
  await using place = await temporaryLedger();
  await Deno.writeTextFile(`${place.folder}/ledger.db`, "");
  assert.equal(await writeRefusal({ databaseUrl: place.url }), null);
  // Nobody may write a folder as a file, not even who may do everything.
  const refusal = await writeRefusal({ databaseUrl: `file:${place.folder}` });
  assert.match(String(refusal), /EISDIR|directory/i);
  assert.equal(await writeRefusal({ databaseUrl: "libsql://a.example" }), null);
});

Deno.test("lookAtDisk() finds a problem below the limit, and nothing of a disk that is elsewhere", async () => {
  const look = async (free: number) =>
    (await lookAtDisk(
      { databaseUrl: "file:/data/ledger.db" },
      (folder) => Promise.resolve(folder === "/data" ? free : 0),
    ))[0]?.code;
  assert.equal(await look(LIMITS.diskFreeBytes), "disk_has_room");
  assert.equal(await look(LIMITS.diskFreeBytes - 1), "disk_nearly_full");
  assert.equal(await look(LIMITS.diskFullBytes), "disk_nearly_full");
  assert.equal(await look(0), "disk_full");
  assert.deepEqual(await lookAtDisk({ databaseUrl: "libsql://a.example" }), []);
});
