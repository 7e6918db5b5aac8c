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
  await Deno.writeTextFile(
    `${folder}/package.json`,
    JSON.stringify({ private: true, dependencies: VERSIONS }),
  );
  const { code, stderr } = await new Deno.Command("npm", {
    args: [
      ...["install", "--legacy-peer-deps", "--ignore-scripts"],
      ...["--no-audit", "--no-fund"],
    ],
    cwd: folder,
    stdin: "null",
    stdout: "null",
  }).output();
  if (code !== 0) {
    throw new Error(
      `Cannot install emmett-sqlite: npm ended with ${code}: ` +
        new TextDecoder().decode(stderr).trim().slice(-300),
    );
  }
  const driver = `${folder}/node_modules/sqlite3`;
  await Deno.mkdir(driver);
  await Deno.writeTextFile(`${driver}/index.mjs`, STAND_IN);
  await Deno.writeTextFile(
    `${driver}/package.json`,
    JSON.stringify({
      name: "sqlite3",
      version: "5.1.7",
      exports: "./index.mjs",
    }),
  );
  return `${folder}/node_modules`;
}
