/**
 * Another process that copies the log into the database whenever it can, until
 * it is killed. Argument: path.
 */
import { Sqlite } from "../../core/sqlite.ts";

const [path = ""] = Deno.args;
const database = new Sqlite(path);
database.exec("PRAGMA busy_timeout = 1000");
const checkpoint = database.prepare("PRAGMA wal_checkpoint(PASSIVE)");
database.exec("PRAGMA journal_mode = WAL");
checkpoint.all([]);
console.log("open");
for (;;) checkpoint.all([]);
