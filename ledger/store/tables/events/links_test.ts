import assert from "node:assert/strict";
import fc from "fast-check";
import { openDriver } from "../../connections/open_driver.ts";
import { makeLedger } from "../../stamp.ts";
import { orderKeySql } from "../orders.ts";
import { capitalsOf, insertOrderLinks, type OrderLink } from "./links.ts";

/** What SQLite takes for the same text. */
const withoutCase = (text: string) =>
  text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

Deno.test("capitalsOf() tells texts apart that differ in their case alone, and no others", () => {
  const letters = fc.string({
    unit: fc.constantFrom("a", "A", "z", "Z", "@", "[", "1", "é", "É", "界"),
    maxLength: 40,
  });
  fc.assert(
    fc.property(letters, fc.infiniteStream(fc.boolean()), (text, is) => {
      const other = Array.from(text, (letter) => {
        const isOther = is.next().value === true;
        if (!isOther || !/^[a-zA-Z]$/.test(letter)) return letter;
        return letter === letter.toLowerCase()
          ? letter.toUpperCase()
          : letter.toLowerCase();
      }).join("");
      assert.equal(withoutCase(other), withoutCase(text));
      assert.equal(capitalsOf(other) === capitalsOf(text), other === text);
    }),
  );
});

Deno.test("capitalsOf() takes a fifth of a text at most, and nothing of one without capitals", () => {
  assert.equal(capitalsOf("0b5c2f6e-1b3c-4d5e-8f90-aabbccddeeff"), "");
  assert.equal(capitalsOf("界".repeat(256)), "");
  assert.equal(capitalsOf("A".repeat(256)).length, 52);
});

Deno.test("insertOrderLinks() stores a link once, whether webhooks or the service named it first, and those of another case beside it", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await makeLedger(driver, { environment: "sandbox", now: () => 0 });
  const run = async (sql: string) =>
    (await driver.batch([{ sql, args: [] }], "write"))[0]?.rows ?? [];
  await run(
    `INSERT INTO orders (row, generation, place, order_id, status, trust,
      open, sort_at, release, release_reason, state, activity, fold)
    VALUES (7, 1, 7, 'O', 's', 't', 1, 0, 'r', 'n', '{}', '', '')`,
  );
  const link = (link: string, confirmed: boolean, beganBy = ""): OrderLink => ({
    kind: "click",
    link,
    confirmed,
    beganBy,
    orderId: "O",
  });
  const add = (...links: OrderLink[]) =>
    driver.batch(insertOrderLinks(1, links), "write");
  const stored = async () =>
    (await run(
      "SELECT link, confirmed, began_by, row FROM order_links ORDER BY 1, 2, 3",
    )).map((row) => [...row]);
  const at = "2026-11-20T12:00:00.000Z";
  await add(link("abc", false), link("aBc", false));
  assert.deepEqual(await stored(), [["aBc", 0, "", 7], ["abc", 0, "", 7]]);
  await add(link("abc", true, at));
  assert.deepEqual(await stored(), [["aBc", 0, "", 7], ["abc", 1, at, 7]]);
  await add(link("abc", false, at), link("abc", true, at));
  assert.deepEqual(await stored(), [["aBc", 0, "", 7], ["abc", 1, at, 7]]);
  await driver.close();
});

Deno.test("insertOrderLinks() stores the links of a new order by its place as it would by its id", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  await makeLedger(driver, { environment: "sandbox", now: () => 0 });
  const one = { beganBy: "", orderId: "O", confirmed: false };
  const links: OrderLink[] = [
    { ...one, kind: "session", link: "Session" },
    { ...one, kind: "external", link: "X" },
    { ...one, kind: "click", link: "c", confirmed: true, beganBy: "2026" },
    { ...one, kind: "click", link: "c", confirmed: true, beganBy: "2026" },
  ];
  const store = async (places?: ReadonlyMap<string, number>) => {
    const [, ...results] = await driver.batch([
      { sql: "DELETE FROM order_links", args: [] },
      ...insertOrderLinks(3, links, places),
      { sql: "SELECT * FROM order_links ORDER BY kind", args: [] },
    ], "write");
    return results.at(-1)?.rows.map((row) => [...row]);
  };
  const byPlace = await store(new Map([["O", 7]]));
  assert.equal(byPlace?.length, 3);
  await driver.batch([{
    sql: `INSERT INTO orders (row, generation, place, order_id, status, trust,
        open, sort_at, release, release_reason, state, activity, fold)
      VALUES (${orderKeySql("3", "7")}, 3, 7, 'O', 's', 't', 1, 0, 'r', 'n',
        '{}', '', '')`,
    args: [],
  }], "write");
  assert.deepEqual(await store(), byPlace);
  await driver.close();
});
