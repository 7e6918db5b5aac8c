import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Every file of a folder that holds data; `-shm` is memory that is shared. */
async function bytesOf(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith("-shm")) continue;
    const bytes = await Deno.readFile(`${folder}/${name}`);
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    files[name] = new Uint8Array(digest).toHex();
  }
  return files;
}

Deno.test("rampkit doctor changes no byte of a ledger, whether it is in use or not", async () => {
  await using live = await temporaryLedger();
  const ledger = await openLedger({
    url: live.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.recordSession({ session_id: "S1", flow_type: "simple" });
  await ledger.project();
  // Neither folded nor chained: a doctor that helps would hide it.
  await ledger.recordSession({ session_id: "S2", flow_type: "simple" });
  const used = await bytesOf(live.folder);
  assert.ok("ledger.db-wal" in used);
  const during = await cli(["doctor", "--database-url", live.url]);
  assert.match(
    during.out,
    /Events are folded: 1 event to go[^]*it covers 1 event;/,
  );
  assert.deepEqual(await bytesOf(live.folder), used);
  assert.equal((await ledger.stats()).chain.count, 1);
  await ledger.close();
  const closed = await bytesOf(live.folder);
  const after = await cli(["doctor", "--database-url", live.url]);
  assert.match(
    after.out,
    /ok +Ledger +It can be written to: .*, its SQLite 3\.\d+\.\d+/,
  );
  const left = await bytesOf(live.folder);
  // SQLite makes an empty log beside a file that it reads.
  delete left["ledger.db-wal"];
  delete closed["ledger.db-wal"];
  assert.deepEqual(left, closed);
});

Deno.test("openLedger() with readOnly makes nothing, and refuses to write", async () => {
  await using live = await temporaryLedger();
  await assert.rejects(
    openLedger({ url: live.url, readOnly: true }),
    /the file does not exist/,
  );
  assert.deepEqual(await bytesOf(live.folder), {});
  await (await openLedger({
    url: live.url,
    environment: "sandbox",
    worker: false,
  })).close();
  await using ledger = await openLedger({
    url: live.url,
    readOnly: true,
    worker: false,
  });
  assert.equal(ledger.environment, "sandbox");
  await assert.rejects(
    ledger.recordSession({ session_id: "S1", flow_type: "simple" }),
    /readonly/,
  );
  await assert.rejects(
    openLedger({ url: live.url, readOnly: true, environment: "production" }),
    /belongs to the environment "sandbox"/,
  );
});
