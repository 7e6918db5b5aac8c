import assert from "node:assert/strict";
import { freshLedger } from "./run_demo.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

/** What is in a folder. */
function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("freshLedger() replaces the ledger of an earlier run of the demo, and says so first", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const said: string[] = [];
  const options = {
    folder,
    fresh: false,
    onReplace: (text: string) => {
      assert.ok(namesIn(folder).includes("ledger.db"), "told too late");
      said.push(text);
    },
  };
  assert.equal(await freshLedger(options), `file:${folder}/ledger.db`);
  assert.deepEqual(said, []);
  for (const name of ["ledger.db", "ledger.db-wal", "ledger.db.lock"]) {
    await Deno.writeTextFile(`${folder}/${name}`, "");
  }
  await Deno.writeTextFile(`${folder}/notes.txt`, "");
  await freshLedger(options);
  assert.equal(said.length, 1);
  assert.deepEqual(namesIn(folder), ["made-by-demo.txt", "notes.txt"]);
});

Deno.test("freshLedger() leaves a ledger alone that no demo made, unless told", async () => {
  await using temporary = await temporaryFolder();
  const folder = temporary.path;
  const options = {
    folder,
    fresh: false,
    onReplace: () => {},
  };
  await Deno.writeTextFile(`${folder}/ledger.db`, "");
  await assert.rejects(
    freshLedger(options),
    /^CommandError: .* of another program; .*--folder.*--fresh/,
  );
  assert.ok(namesIn(folder).includes("ledger.db"));
  await freshLedger({ ...options, fresh: true });
  assert.deepEqual(namesIn(folder), ["made-by-demo.txt"]);
});
