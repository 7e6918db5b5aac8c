/**
 * Appends with emmett-sqlite: `emmett.ts PACKAGES FILE COUNT`, where PACKAGES is a
 * `node_modules` folder. All callers share one open connection and take turns,
 * because it bears one transaction at a time.
 *
 * @module
 */
import { pathToFileURL } from "node:url";
import { webhookBody } from "./bodies.ts";

const VERSIONS = {
  "@event-driven-io/emmett-sqlite": "0.42.4",
  "@event-driven-io/emmett": "0.42.0",
  "async-retry": "1.3.3",
  uuid: "10.0.0",
};

/**
 * What emmett-sqlite uses of its driver `sqlite3`, over the SQLite of the
 * runtime: the driver itself compiles native code when it is installed.
 */
const STAND_IN = `import { DatabaseSync } from "node:sqlite";
const bindable = (value) =>
  typeof value === "boolean"
    ? Number(value)
    : typeof value === "object" && value !== null
    ? String(value)
    : value;
class Database extends DatabaseSync {
  prepared = new Map();
}
for (const how of ["run", "get", "all"]) {
  Database.prototype[how] = function (sql, ...rest) {
    const done = typeof rest.at(-1) === "function" ? rest.at(-1) : () => {};
    const values = Array.isArray(rest[0]) ? rest[0].map(bindable) : [];
    let error = null;
    let result;
    try {
      if (!this.prepared.has(sql)) this.prepared.set(sql, this.prepare(sql));
      result = this.prepared.get(sql)[how](...values);
    } catch (thrown) {
      error = thrown;
    }
    queueMicrotask(() => done.call(this, error, result));
  };
}
export default { Database, OPEN_READWRITE: 2, OPEN_CREATE: 4, OPEN_URI: 64 };
`;

/**
 * Fetches emmett-sqlite into a folder that is there; no install script runs.
 *
 * @throws {Error} When npm is not there or fails.
 */
export async function installEmmett(folder: string): Promise<string> {
  const write = (path: string, text: string) =>
    Deno.writeTextFile(`${folder}/${path}`, text);
  await write("package.json", JSON.stringify({ dependencies: VERSIONS }));
  const { success } = await new Deno.Command("npm", {
    args: "install --legacy-peer-deps --ignore-scripts --no-audit --no-fund"
      .split(" "),
    cwd: folder,
    ...{ stdin: "null", stdout: "null", stderr: "inherit" } as const,
  }).output();
  if (!success) throw new Error("Cannot install emmett-sqlite: npm failed");
  await Deno.mkdir(`${folder}/node_modules/sqlite3`);
  await write("node_modules/sqlite3/index.mjs", STAND_IN);
  const about = { name: "sqlite3", version: "5.1.7", exports: "./index.mjs" };
  await write("node_modules/sqlite3/package.json", JSON.stringify(about));
  return `${folder}/node_modules`;
}

if (import.meta.main) {
  const [packages, fileName, counted] = Deno.args;
  const count = Number(counted);
  const entry = `${packages}/@event-driven-io/emmett-sqlite/dist/index.js`;
  const emmett = await import(pathToFileURL(entry).href);
  const connection = emmett.sqliteConnection({ fileName });
  const connectionOptions = { singleton: true, connection };
  const store = emmett.getSQLiteEventStore({ fileName, connectionOptions });
  let minted = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const append = () => {
    const number = minted++;
    const data = JSON.parse(webhookBody(number, "new"));
    return store.appendToStream(`order-${number}`, [
      { type: "order_complete", data },
    ]);
  };
  const appendUntil = (until: number) =>
    Promise.all(Array.from({ length: 64 }, async () => {
      while (minted < until) await (turn = turn.then(append));
    }));
  // The first quarter warms it up.
  await appendUntil(count / 4);
  const before = minted;
  const start = performance.now();
  await appendUntil(count);
  const tookMs = performance.now() - start;
  console.log(JSON.stringify([(minted - before) / tookMs * 1000]));
  Deno.exit(0);
}
