/**
 * Another process that takes the write lock of a file and gives it back, again
 * and again. Arguments: path, ms to hold it, ms between, how many times.
 */
import Database from "libsql";

const [path, holdMs, pauseMs, times] = Deno.args;
const database = new Database(path ?? "", { timeout: 60_000 });
database.exec("PRAGMA busy_timeout = 60000");
for (let at = 0; at < Number(times); at++) {
  database.exec("BEGIN IMMEDIATE");
  console.log("held");
  await new Promise((resolve) => setTimeout(resolve, Number(holdMs)));
  database.exec("ROLLBACK");
  await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
}
database.close();
