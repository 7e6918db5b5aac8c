/**
 * Another process that takes the write lock of a file and gives it back, again
 * and again. Arguments: path, ms to hold it, ms between, how many times.
 */
import { Sqlite } from "../../core/sqlite.ts";

const [path, holdMs, pauseMs, times] = Deno.args;
const database = new Sqlite(path ?? "");
database.exec("PRAGMA busy_timeout = 60000");
for (let at = 0; at < Number(times); at++) {
  database.exec("BEGIN IMMEDIATE");
  console.log("held");
  await new Promise((resolve) => setTimeout(resolve, Number(holdMs)));
  database.exec("ROLLBACK");
  await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
}
database.close();
