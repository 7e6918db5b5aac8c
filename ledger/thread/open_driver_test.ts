import assert from "node:assert/strict";
import { localPath, publicUrl } from "../store/connections/database_url.ts";
import { LedgerError, type LedgerErrorCode } from "../store/database.ts";
import { openDriver } from "./open_driver.ts";
import { prepare } from "../testing/test_events.ts";
import { temporaryFolder } from "../../tests/kit/temporary_folder.ts";

function failsWith(code: LedgerErrorCode, words: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof LedgerError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    assert.doesNotMatch(error.message, /\.$/);
    return true;
  };
}

for (const worker of [true, false]) {
  const where = worker ? "in a thread" : "on the caller's thread";

  Deno.test(`openDriver() names a file that is no database (${where})`, async () => {
    await using directory = await temporaryFolder();
    const path = `${directory.path}/letter.txt`;
    await Deno.writeTextFile(path, "Dear reader, ".repeat(500));
    await assert.rejects(
      openDriver({ url: `file:${path}`, worker }),
      failsWith("not_a_database", /letter\.txt/),
    );
    assert.match(await Deno.readTextFile(path), /^Dear reader/);
  });

  Deno.test(`openDriver() names a path that cannot be opened (${where})`, async () => {
    await using directory = await temporaryFolder();
    for (
      const path of [`${directory.path}/no/folder/ledger.db`, directory.path]
    ) {
      await assert.rejects(
        openDriver({ url: `file:${path}`, worker }),
        failsWith("cannot_open", /folder exists/),
      );
    }
  });

  Deno.test(`openDriver() names a damaged file (${where})`, async () => {
    await using directory = await temporaryFolder();
    const url = `file:${directory.path}/ledger.db`;
    const driver = await openDriver({ url, worker });
    await prepare(driver);
    await driver.close();
    const file = await Deno.open(`${directory.path}/ledger.db`, {
      write: true,
    });
    await file.seek(100, Deno.SeekMode.Start);
    await file.write(new Uint8Array(4096).fill(0xff));
    file.close();
    await assert.rejects(
      openDriver({ url, worker }).then(async (opened) => {
        try {
          await prepare(opened);
        } finally {
          await opened.close();
        }
      }),
      failsWith("corrupt", /restore a backup/),
    );
  });

  Deno.test(`openDriver() names a file that takes no writes (${where})`, async () => {
    await using directory = await temporaryFolder();
    const url = `file:${directory.path}/ledger.db`;
    const driver = await openDriver({ url, worker });
    await prepare(driver);
    for (const returning of ["", " RETURNING position"]) {
      const statement = { sql: `DELETE FROM events${returning}`, args: [] };
      const refused = () =>
        assert.rejects(
          driver.batch([statement], "read"),
          failsWith("read_only", /permissions/),
        );
      await refused();
      await driver.batch([statement], "write");
      await refused();
    }
    await driver.close();
  });
}

Deno.test("openDriver() uses write-ahead logging and syncs every commit", async () => {
  await using directory = await temporaryFolder();
  const driver = await openDriver({
    url: `file:${directory.path}/ledger.db`,
    worker: false,
  });
  const pragma = async (name: string) => {
    const [result] = await driver.batch(
      [{ sql: `PRAGMA ${name}`, args: [] }],
      "read",
    );
    return result?.rows[0]?.[0];
  };
  const FULL = 2;
  assert.equal(await pragma("journal_mode"), "wal");
  assert.equal(await pragma("synchronous"), FULL);
  // And again after an error, when the file has been opened anew.
  await assert.rejects(driver.batch([{ sql: "NO", args: [] }], "write"));
  assert.equal(await pragma("synchronous"), FULL);
  assert.equal(await pragma("busy_timeout"), 50);
  await driver.close();
});

Deno.test("openDriver() refuses other addresses, and shows no token", async () => {
  const addresses = [
    "postgres://me:s3cret@localhost/db",
    "ws://localhost?authToken=s3cret",
    "rampkit.db",
    "",
  ];
  for (const url of addresses) {
    await assert.rejects(openDriver({ url }), (error) => {
      failsWith("cannot_open", /file:PATH/)(error);
      assert.ok(!Deno.inspect(error).includes("s3cret"));
      return true;
    });
  }
});

Deno.test("localPath() reads file addresses", () => {
  assert.equal(localPath("file:a/b.db"), "a/b.db");
  assert.equal(localPath("file:/a/b.db"), "/a/b.db");
  assert.equal(localPath("file:///a/b.db"), "/a/b.db");
  assert.equal(localPath("file://localhost/a/b.db"), "/a/b.db");
  assert.equal(localPath("file:a%20b%23.db"), "a b#.db");
  assert.equal(localPath("file:100%.db"), "100%.db");
  assert.equal(localPath(":memory:"), ":memory:");
  assert.equal(localPath("https://a.example"), null);
});

Deno.test("publicUrl() leaves out what may be secret", () => {
  assert.equal(
    publicUrl("libsql://me:pass@db.example/x?authToken=s3cret#f"),
    "libsql://db.example/x",
  );
});

/** A module, and what it imports. */
interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier: string };
    readonly isDynamic?: boolean;
  }[];
}

Deno.test("openDriver() names every file that it may need, and loads a database's code only for its own kind", async () => {
  const door = import.meta.resolve("./open_driver.ts");
  const { code, stdout } = await new Deno.Command("deno", {
    args: ["info", "--json", door],
    stderr: "null",
  }).output();
  assert.equal(code, 0);
  const { modules }: { modules: Module[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const named = modules.map(({ specifier }) => specifier);
  for (
    const name of ["/file_driver.ts", "/database_thread.ts", "node:sqlite"]
  ) {
    assert.ok(named.some((module) => module.includes(name)), name);
  }
  const loaded = new Set([door]);
  for (const from of loaded) { // Those that are added meanwhile come as well.
    const { dependencies = [] } = modules.find(({ specifier }) =>
      specifier === from
    ) ?? {};
    for (const { code, isDynamic } of dependencies) {
      if (code !== undefined && !isDynamic) loaded.add(code.specifier);
    }
  }
  assert.ok(loaded.size > 3);
  assert.deepEqual(
    [...loaded].filter((name) => /npm:.*libsql|libsql_/.test(name)),
    [],
  );
});

Deno.test("openDriver() answers a read that begins with WITH, and refuses a write that does", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const batch = (sql: string, mode: "read" | "write") =>
    driver.batch([{ sql, args: [] }], mode);
  await batch("CREATE TABLE t (one INTEGER) STRICT", "write");
  const [read] = await batch("WITH a AS (SELECT 1) SELECT * FROM a", "read");
  assert.deepEqual(read?.rows, [[1]]);
  await assert.rejects(
    batch("WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a", "read"),
    LedgerError,
  );
  const [none] = await batch("SELECT count(*) FROM t", "read");
  assert.deepEqual(none?.rows, [[0]]);
  await driver.close();
});

Deno.test("openDriver() works in the caller's thread where the module of its own is missing, and tells why", async () => {
  await using directory = await temporaryFolder();
  const told: string[] = [];
  const open = (threadModule: string | URL) =>
    openDriver({
      url: `file:${directory.path}/ledger.db`,
      threadModule,
      onNoThread: (reason) => told.push(reason),
    });
  const nowhere = await open(new URL(`file://${directory.path}/bundled.js`));
  await prepare(nowhere);
  await nowhere.close();
  assert.match(told.join(), /bundled\.js/);

  const own = await open(
    import.meta.resolve("./database_thread.ts"),
  );
  const [rows] = await own.batch(
    [{ sql: "SELECT count(*) FROM events", args: [] }],
    "read",
  );
  assert.deepEqual(rows?.rows, [[0]]);
  await own.close();
  assert.equal(told.length, 1);
  await assert.rejects(open("bundled.js"), TypeError);
});

for (const worker of [true, false]) {
  Deno.test(`close() answers whatever is asked while it closes (worker: ${worker})`, async () => {
    await using directory = await temporaryFolder();
    const url = `file:${directory.path}/ledger.db`;
    const driver = await openDriver({ url, worker });
    const closing = driver.close();
    const asked = [{ sql: "SELECT 1", args: [] }];
    await assert.rejects(
      driver.batch(asked, "read"),
      failsWith("closed", /closed before/),
    );
    await Promise.all([closing, driver.close()]);
  });

  Deno.test(`copyTo() names the place that cannot be written (worker: ${worker})`, async () => {
    await using directory = await temporaryFolder();
    const url = `file:${directory.path}/ledger.db`;
    const driver = await openDriver({ url, worker });
    await assert.rejects(
      async () => await driver.copyTo?.(`${directory.path}/none/copy.db`),
      failsWith("cannot_open", /folder exists.*none\/copy\.db/),
    );
    await driver.close();
  });
}
