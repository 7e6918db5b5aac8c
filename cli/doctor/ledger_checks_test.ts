import assert from "node:assert/strict";
import { temporaryLedger } from "../../tests/kit/cli.ts";
import { openLedger } from "../../ledger/mod.ts";
import {
  ledgerChecks,
  missingLedgerCheck,
  writeRefusal,
} from "./ledger_checks.ts";

Deno.test("missingLedgerCheck() fails where no ledger can be made, and leaves nothing behind", async () => {
  await using place = await temporaryLedger();
  const can = await missingLedgerCheck({ databaseUrl: place.url });
  assert.equal(can.status, "warn");
  assert.match(can.advice ?? "", /serve makes it/);
  assert.deepEqual([...Deno.readDirSync(place.folder)], []);
  // Nobody may make a file in a file, not even who may do everything.
  await Deno.writeTextFile(`${place.folder}/file`, "");
  const cannot = await missingLedgerCheck({
    databaseUrl: `file:${place.folder}/file/ledger.db`,
  });
  assert.equal(cannot.status, "fail");
  assert.match(cannot.detail, /none can be made there: .*(ENOTDIR|directory)/i);
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

Deno.test("ledgerChecks() fails for a file that can only be read, though SQLite reads it", async () => {
  await using ledger = await openLedger({
    url: ":memory:",
    environment: "sandbox",
  });
  const { signal } = new AbortController();
  const found = async (fileRefusal: string | null) =>
    (await ledgerChecks(ledger, { fileRefusal, signal }))
      .find(({ name }) => name === "Ledger");
  assert.equal((await found(null))?.status, "ok");
  const refused = await found("EROFS: read-only file system");
  assert.equal(refused?.status, "fail");
  assert.match(String(refused?.detail), /EROFS/);
});
