// What emmett-sqlite uses of `sqlite3`, over the SQLite of the runtime: the
// package itself compiles native code when it is installed.
import { DatabaseSync } from "node:sqlite";

class Database {
  #database;
  #prepared = new Map();

  constructor(fileName) {
    this.#database = new DatabaseSync(fileName);
  }

  run(sql, ...rest) {
    this.#answer("run", sql, rest);
  }

  get(sql, ...rest) {
    this.#answer("get", sql, rest);
  }

  all(sql, ...rest) {
    this.#answer("all", sql, rest);
  }

  close() {
    this.#database.close();
  }

  #answer(how, sql, rest) {
    const done = rest.at(-1);
    const tell = typeof done === "function" ? done : () => {};
    const values = Array.isArray(rest[0]) ? rest[0].map(bindable) : [];
    let error = null;
    let result;
    try {
      result = this.#statement(sql)[how](...values);
    } catch (thrown) {
      error = thrown;
    }
    queueMicrotask(() => tell.call(this, error, result));
  }

  #statement(sql) {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

/** Other values are bound as the package binds them. */
function bindable(value) {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "object" && value !== null ? `${value}` : value;
}

export default {
  Database,
  OPEN_READWRITE: 2,
  OPEN_CREATE: 4,
  OPEN_URI: 64,
};
