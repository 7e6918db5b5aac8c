import assert from "node:assert/strict";
import { storeOnly } from "../testing/store_test_kit.ts";
import { read, select, statement, write } from "../store/database.ts";
import { lookupStatements, selectLookupRuns } from "./project.ts";

Deno.test("what leads to orders is found in whichever run it stands, and stands once", async () => {
  const driver = await storeOnly();
  const add = async (
    position: number,
    ...rows: readonly (readonly [number, number, number])[]
  ) => {
    const [runs = []] = await read(driver, [selectLookupRuns]);
    await write(driver, [
      statement("UPDATE ledger SET position = ?", position),
      ...lookupStatements(rows, runs as [number, number][], 2),
    ]);
  };
  const all: [number, number, number][] = [];
  for (let position = 1; position <= 9; position++) {
    const rows = [[position % 3, 2 * position, 0], [
      100,
      2 * position,
      0,
    ]] as const;
    all.push(...rows.map((row): [number, number, number] => [...row]));
    await add(position, ...rows);
  }
  const runs = await select(driver, "SELECT count(*) FROM lookup_runs");
  assert.ok(Number(runs[0]?.[0]) > 3);
  const found = (hash: number) =>
    select(driver, "SELECT no, shown FROM lookup WHERE hash = ?", hash);
  for (const hash of [0, 1, 2, 100]) {
    const wanted = all.filter(([one]) => one === hash)
      .map(([, no, shown]) => [no, shown]);
    assert.deepEqual(await found(hash), wanted);
  }
  // An order of the first run is shown, and then named again.
  await add(10, [1, 2, 1]);
  await add(11, [1, 2, 0]);
  assert.deepEqual(await found(1), [[2, 1], [8, 0], [14, 0]]);
  await driver.close();
});
