/**
 * Another process that commits rows to a ledger's file, and prints how many
 * commits were acknowledged. Arguments: path, number of commits.
 */
import { openDriver } from "../thread/open_driver.ts";

const [path, commits] = Deno.args;
const driver = await openDriver({ url: `file:${path}`, worker: false });
const body = "x".repeat(700);
const sql = `INSERT INTO t SELECT value, ?, ? FROM json_each(?)`;
const ids = JSON.stringify([1, 2, 3, 4]);
let acknowledged = 0;
try {
  for (; acknowledged < Number(commits); acknowledged++) {
    await driver.batch([{ sql, args: [acknowledged, body, ids] }], "write");
    // The log is copied whole meanwhile, so that the next commit begins it anew.
    if (acknowledged % 2) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
} finally {
  console.log(acknowledged);
}
await driver.close();
