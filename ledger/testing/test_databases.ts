/** Databases that contract tests run over, each opened empty. */
import type { Client } from "@libsql/client";
import type { Driver } from "../store/database.ts";
import { openClient } from "../store/connections/client_driver.ts";
import { openDriver } from "../thread/open_driver.ts";
import { patient } from "./patient.ts";
import {
  sqldAvailable,
  type SqldServer,
  startSqld,
} from "./sqld_test_server.ts";

/** An empty database for one test. */
export interface TestDatabase extends AsyncDisposable {
  /** Opens it once more, as another process would. */
  open(): Promise<Driver>;
}

/** A kind of database. */
export interface DatabaseKind {
  /** Name for test names. */
  readonly name: string;
  /** Whether {@linkcode TestDatabase.open} again reaches the same data. */
  readonly shared: boolean;
  /** Whether it can run on this machine. */
  readonly available: boolean;
  /** Makes an empty one. */
  create(): Promise<TestDatabase>;
}

function local(name: string, worker: boolean): DatabaseKind {
  return {
    name,
    shared: true,
    available: true,
    create: async () => {
      const directory = await Deno.makeTempDir({ prefix: "rampkit-test-" });
      const drivers: Driver[] = [];
      return {
        open: async () => {
          const url = `file:${directory}/ledger.db`;
          const driver = await openDriver({ url, worker, ...patient });
          drivers.push(driver);
          return driver;
        },
        [Symbol.asyncDispose]: async () => {
          for (const driver of drivers) await driver.close();
          await Deno.remove(directory, { recursive: true });
        },
      };
    },
  };
}

function memory(name: string, worker: boolean): DatabaseKind {
  return {
    name,
    shared: false,
    available: true,
    create: () => {
      const drivers: Driver[] = [];
      return Promise.resolve({
        open: async () => {
          const driver = await openDriver({ url: ":memory:", worker });
          drivers.push(driver);
          return driver;
        },
        [Symbol.asyncDispose]: async () => {
          for (const driver of drivers) await driver.close();
        },
      });
    },
  };
}

/**
 * Clients of a partner's own. Their engine keeps a file for itself, and needs
 * native code: `open_client_test.ts` runs these with permission for that.
 */
function client(name: string, inFile: boolean): DatabaseKind {
  return {
    name,
    shared: false,
    available: true,
    create: async () => {
      const directory = await Deno.makeTempDir({ prefix: "rampkit-test-" });
      const url = inFile ? `file:${directory}/ledger.db` : ":memory:";
      const clients: Client[] = [];
      const { createClient } = await import("@libsql/client");
      return {
        open: () => {
          const client = createClient({ url });
          clients.push(client);
          return openClient({ client, ...patient });
        },
        [Symbol.asyncDispose]: async () => {
          for (const client of clients) client.close();
          await Deno.remove(directory, { recursive: true });
        },
      };
    },
  };
}

function server(name: string, replica: boolean): DatabaseKind {
  return {
    name,
    shared: true,
    available: sqldAvailable,
    create: async () => {
      const directory = await Deno.makeTempDir({ prefix: "rampkit-test-" });
      const servers: SqldServer[] = [];
      const drivers: Driver[] = [];
      const primary = await startSqld({ directory: `${directory}/primary` });
      servers.push(primary);
      if (replica) {
        const options = { directory: `${directory}/replica`, primary };
        servers.push(await startSqld(options));
      }
      return {
        open: async () => {
          // With a replica, clients alternate between it and its primary.
          const at = (drivers.length + 1) % servers.length;
          const { url } = servers[at] ?? primary;
          const driver = await openDriver({ url, ...patient });
          drivers.push(driver);
          return driver;
        },
        [Symbol.asyncDispose]: async () => {
          for (const driver of drivers) await driver.close();
          for (const one of servers.reverse()) await one.stop({ hard: true });
          await Deno.remove(directory, { recursive: true });
        },
      };
    },
  };
}

const clients = [
  client("client in memory", false),
  client("client of a file", true),
];
const nativeCode =
  Deno.permissions.querySync({ name: "ffi" }).state === "granted";

/** Every kind of database that a ledger may live in. */
export const databaseKinds: readonly DatabaseKind[] = [
  memory("memory", false),
  memory("memory in a thread", true),
  local("file", false),
  local("file in a thread", true),
  ...nativeCode ? clients : [],
  server("sqld", false),
  server("sqld replica", true),
];

/** Runs `test` over every kind, each time on an empty database. */
export function testEachDatabase(
  name: string,
  test: (database: TestDatabase, kind: DatabaseKind) => Promise<void>,
): void {
  for (const kind of databaseKinds) {
    Deno.test({
      name: `${name} (${kind.name})`,
      ignore: !kind.available,
      fn: async () => {
        await using database = await kind.create();
        await test(database, kind);
      },
    });
  }
}
