import assert from "node:assert/strict";
import { newLedger } from "../testing/fold_kit.ts";
import { readSweep, writeSweep } from "./database.ts";

Deno.test("readSweep() gives what writeSweep() stored last under a name, and null where nothing was", async () => {
  const driver = await newLedger();
  assert.equal(await readSweep(driver, "orders"), null);
  await driver.batch([
    writeSweep("orders", { cursor: "A", pages: 1 }, 1000.5),
    writeSweep("users", { cursor: "B" }, 1000),
    writeSweep("orders", { cursor: null, pages: 2 }, 2000),
  ], "write");
  assert.deepEqual(await readSweep(driver, "orders"), {
    cursor: null,
    pages: 2,
  });
  assert.deepEqual(await readSweep(driver, "users"), { cursor: "B" });
  await driver.close();
});
