import assert from "node:assert/strict";
import { temporaryLedger } from "../../tests/kit/cli.ts";
import { holdLedger, serving, takeLedger } from "./ledger_lock.ts";

Deno.test("takeLedger() is refused while anybody holds the ledger, and refuses others", async () => {
  await using place = await temporaryLedger();
  const file = `${place.folder}/ledger.db`;
  await Deno.writeTextFile(file, "");
  const config = { databaseUrl: place.url };
  {
    using serve = await holdLedger(config);
    using _backup = await holdLedger(config);
    assert.throws(() => takeLedger(file), /in use by another process/);
    serve.announce();
    assert.equal(serving(file)?.pid, Deno.pid);
    assert.throws(
      () => takeLedger(file),
      new RegExp(`in use by serve \\(process ${Deno.pid}\\); stop it first`),
    );
  }
  assert.equal(serving(file), null);
  using _restore = takeLedger(file);
  await assert.rejects(holdLedger(config), /is replacing it/);
});

Deno.test("serving() does not believe what a process has left that was killed", async () => {
  await using place = await temporaryLedger();
  const file = `${place.folder}/ledger.db`;
  await Deno.writeTextFile(`${file}-use.json`, '{"pid":1,"database":"1:1"}');
  assert.equal(serving(file), null);
});

Deno.test("serving() names a serve that goes on when another that told of itself has ended", async () => {
  await using place = await temporaryLedger();
  const file = `${place.folder}/ledger.db`;
  await Deno.writeTextFile(file, "");
  const config = { databaseUrl: place.url };
  // Stands for the lock of another process.
  using _other = await holdLedger(config);
  const told = '{"pid":1,"database":"1:1"}';
  await Deno.writeTextFile(`${file}-use.json`, told);
  {
    using second = await holdLedger(config);
    second.announce();
    assert.equal(serving(file)?.pid, Deno.pid);
  }
  assert.equal(serving(file)?.pid, 1);
});

Deno.test("serving() names a serve that began before another has ended, as in a rolling upgrade", async () => {
  await using place = await temporaryLedger();
  const file = `${place.folder}/ledger.db`;
  await Deno.writeTextFile(file, "");
  const config = { databaseUrl: place.url };
  using _other = await holdLedger(config);
  {
    using old = await holdLedger(config);
    old.announce();
    await Deno.writeTextFile(`${file}-use.json`, '{"pid":1,"database":"1:1"}');
  }
  assert.equal(serving(file)?.pid, 1);
});
