import assert from "node:assert/strict";
import {
  aliasRow,
  insertAlias,
  insertAliasRow,
  keyRow,
  readAliases,
} from "./aliases.ts";
import { bytesOf, select, write } from "./database.ts";
import { storeOnly } from "../testing/store_test_kit.ts";

const user = (erasedAt: string, returnedAt: string | null = null) => ({
  erasedAt,
  returnedAt,
});
const FIRST = user("2026-11-01T00:00:00.000Z", "2026-11-05T00:00:00.000Z");
const AGAIN = user("2026-11-10T00:00:00.000Z");

Deno.test("an erasure here counts before an older one of a ledger that was imported, whatever their keys", async () => {
  for (let other = 0; other < 16; other++) {
    const driver = await storeOnly();
    const [[own] = []] = await select(driver, "SELECT key FROM ledger");
    const key = new Uint8Array(32).fill(other);
    await write(driver, [
      insertAliasRow(keyRow(key)),
      insertAliasRow(aliasRow(key, "user", ["u-1", FIRST])),
      insertAliasRow(
        aliasRow(key, "value", ["name-1", { is: "chosen", length: 6 }]),
      ),
      insertAlias(bytesOf(own), "user", ["u-1", AGAIN]),
      insertAlias(bytesOf(own), "value", ["name-1", { is: "own", length: 6 }]),
    ]);
    const users = await readAliases(driver, "user", ["u-1"]);
    assert.equal(users.get("u-1")?.erasedAt, AGAIN.erasedAt, `key ${other}`);
    const values = await readAliases(driver, "value", ["name-1"]);
    assert.equal(values.get("name-1")?.is, "own", `key ${other}`);
    await driver.close();
  }
});

Deno.test("exports that are imported in any order leave the same erasure", async () => {
  const key = new Uint8Array(32).fill(7);
  const exported = [
    user(FIRST.erasedAt),
    FIRST,
    AGAIN,
    user(AGAIN.erasedAt, "2026-11-20T00:00:00.000Z"),
  ];
  const orders = [[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 3, 2, 0]];
  for (const order of orders) {
    const driver = await storeOnly();
    await write(driver, [insertAliasRow(keyRow(key))]);
    for (const at of order) {
      const alias = exported[at] ?? AGAIN;
      const row = aliasRow(key, "user", ["u-1", alias]);
      await write(driver, [insertAliasRow(row)]);
    }
    const { hash: _, ...found } = (await readAliases(driver, "user", ["u-1"]))
      .get("u-1") ?? { hash: null };
    assert.deepEqual(found, exported[3], `${order}`);
    await driver.close();
  }
});
