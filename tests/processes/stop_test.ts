import assert from "node:assert/strict";
import { createSandbox } from "../../sandbox/mod.ts";
import { partialCopy } from "../../server/ledger_file/regular_backups.ts";
import { cli, type Ran } from "../kit/cli.ts";
import { stopped } from "../kit/stopped.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { until } from "../kit/until.ts";

/** Orders of the ledger that commands are stopped over; two events each. */
const ORDERS = 1500;

let made: Promise<string> | undefined;

/** Bodies of webhooks, one a line. */
function bodies(orders: number): string {
  const lines: string[] = [];
  for (let order = 0; order < orders; order++) {
    for (const type of ["payment_started", "order_complete"]) {
      lines.push(
        `{"type":"${type}","click_id":"click-${order}","order":{"id":` +
          `"order-${order}","base":"USDC","base_amount":"1.5","quote":"USD",` +
          `"quote_amount":"2"},"user":{"user_id":"user-${order % 100}"}}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A folder of its own with a ledger in it: a copy of one that is made once. */
async function ledgerFolder(
  orders: "many" | "none" = "many",
): Promise<
  {
    readonly folder: string;
    readonly env: Record<string, string>;
    readonly names: () => string[];
  } & AsyncDisposable
> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-stop-" });
  const file = `${folder}/ledger.db`;
  if (orders === "many") {
    made ??= makeLedger();
    await Deno.copyFile(await made, file);
  }
  return {
    folder,
    env: {
      RAMPKIT_DATABASE_URL: `file:${file}`,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_API_KEY: "key-of-the-tests",
      RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
    },
    // What SQLite keeps beside its file says nothing.
    names: () =>
      [...Deno.readDirSync(folder)].map(({ name }) => name)
        .filter((name) => !/-(wal|shm)$/.test(name)).sort(),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

async function makeLedger(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-stop-" });
  globalThis.addEventListener("unload", () => {
    Deno.removeSync(folder, { recursive: true });
  });
  await Deno.writeTextFile(`${folder}/bodies.ndjson`, bodies(ORDERS));
  const ran = await cli(["webhook", "replay", `${folder}/bodies.ndjson`], {
    RAMPKIT_DATABASE_URL: `file:${folder}/ledger.db`,
  });
  assert.equal(ran.code, 0, ran.err);
  return `${folder}/ledger.db`;
}

/** The ledger opens, verifies, and has all its orders once it was read. */
async function isWhole(
  env: Record<string, string>,
  orders: number = ORDERS,
): Promise<void> {
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.equal(JSON.parse(verified.out).ok, true, verified.out);
  await cli(["orders", "list", "--limit", "1"], env);
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.deepEqual([stats.orders, stats.lag], [orders, 0]);
}

/**
 * Runs a command in this process and stops it midway, however fast it is: who
 * looks whether it was stopped, at a time for it, finds that it was.
 */
async function stoppedWhen(
  isTime: () => boolean,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ran> {
  const controller = new AbortController();
  const { signal } = controller;
  signal.throwIfAborted = () => {
    if (!signal.aborted && isTime()) {
      controller.abort(new DOMException("Interrupted", "AbortError"));
    }
    AbortSignal.prototype.throwIfAborted.call(signal);
  };
  return await cli(args, env, signal);
}

/** Whether a file is there and has this many bytes. */
function has(path: string, bytes: number): boolean {
  try {
    return Deno.statSync(path).size >= bytes;
  } catch {
    return false;
  }
}

function said(ran: Ran, code: number, pattern: RegExp): void {
  assert.equal(ran.code, code, ran.err);
  assert.match(ran.err, pattern);
}

Deno.test("rampkit serve ends by Ctrl-C with exit code 0, everything folded", async () => {
  await using ledger = await ledgerFolder("none");
  let url = "";
  const ran = await stopped(["serve", "--port", "0", "--no-poll"], {
    env: ledger.env,
    until: async ({ line }) => {
      url = JSON.parse(await line(/"listening"/)).url;
      const hook = `${url}/webhooks/${ledger.env.RAMPKIT_WEBHOOK_SECRET}`;
      const [body = ""] = bodies(1).split("\n");
      const answer = await fetch(hook, { method: "POST", body });
      assert.equal(answer.status, 204);
    },
  });
  said(ran, 0, /"event":"stopped"/);
  await isWhole(ledger.env, 1);
});

Deno.test("rampkit serve ends at once on a second Ctrl-C, and the ledger stays whole", async () => {
  await using ledger = await ledgerFolder("none");
  const hook = `/webhooks/${ledger.env.RAMPKIT_WEBHOOK_SECRET}`;
  const [body = ""] = bodies(1).split("\n");
  using connections = new DisposableStack();
  const ran = await stopped(["serve", "--port", "0", "--no-poll"], {
    env: ledger.env,
    again: true,
    until: async ({ line }) => {
      const url = new URL(JSON.parse(await line(/"listening"/)).url);
      const answer = await fetch(url.origin + hook, { method: "POST", body });
      assert.equal(answer.status, 204);
      // A body that never ends is waited for, but not twice.
      const connection = connections.use(
        await Deno.connect({ hostname: url.hostname, port: Number(url.port) }),
      );
      await connection.write(new TextEncoder().encode(
        `POST ${hook} HTTP/1.1\r\nHost: partner\r\nContent-Length: 99\r\n` +
          "Expect: 100-continue\r\n\r\n",
      ));
      // It says so once it reads the body.
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode("{"));
    },
  });
  said(ran, 130, /"event":"stopping"/);
  assert.doesNotMatch(ran.err, /"event":"stopped"/);
  await isWhole(ledger.env, 1);
});

Deno.test("rampkit ledger refold leaves the states as they are when stopped, and goes on later", async () => {
  await using ledger = await ledgerFolder();
  const log = `${ledger.folder}/ledger.db-wal`;
  const ran = await stoppedWhen(
    () => has(log, 1 << 18),
    ["ledger", "refold"],
    ledger.env,
  );
  said(ran, 1, /^Stopped: readers see whole states.*run it again/m);
  await isWhole(ledger.env);
  const again = await cli(["ledger", "refold", "--json"], ledger.env);
  const { swapped, changed, events } = JSON.parse(again.out);
  assert.deepEqual([swapped, changed], [true, 0]);
  assert.ok(events < 2 * ORDERS, "it began from nothing again");
});

Deno.test("rampkit ledger verify says how many events it looked at when stopped", async () => {
  await using ledger = await ledgerFolder();
  let looks = 0;
  const ran = await stoppedWhen(
    // Before it begins, and between two steps.
    () => ++looks === 3,
    ["ledger", "verify"],
    ledger.env,
  );
  const [, events] = /^Stopped: (\d+) events were looked at and are right/
    .exec(ran.err) ?? [];
  assert.equal(ran.code, 1, ran.err);
  assert.ok(Number(events) > 0 && Number(events) < 2 * ORDERS, ran.err);
  await isWhole(ledger.env);
});

Deno.test("rampkit ledger export --output leaves no file when stopped", async () => {
  await using ledger = await ledgerFolder();
  const file = `${ledger.folder}/events.ndjson`;
  const ran = await stoppedWhen(
    () => has(`${file}.partial`, 1),
    ["ledger", "export", "--output", file],
    ledger.env,
  );
  said(
    ran,
    1,
    /^Stopped: after [1-9]\d* events; .*events\.ndjson was not written$/m,
  );
  assert.deepEqual(ledger.names(), ["ledger.db"]);
  await isWhole(ledger.env);
});

Deno.test("rampkit ledger export to a pipe has no last line when stopped", async () => {
  await using ledger = await ledgerFolder();
  const ran = await stopped(["ledger", "export"], {
    env: ledger.env,
    until: ({ out }) => out(),
  });
  said(ran, 1, /^Stopped: after \d+ events; .*no last line/);
  await using other = await ledgerFolder("none");
  const file = `${other.folder}/cut.ndjson`;
  await Deno.writeTextFile(file, ran.out);
  const imported = await cli(["ledger", "import", file], other.env);
  said(imported, 1, /is cut/);
});

Deno.test("rampkit orders export says in its last line that it was stopped", async () => {
  await using ledger = await ledgerFolder();
  const ran = await stopped(["orders", "export", "--trust", "all"], {
    env: ledger.env,
    until: ({ out }) => out(),
  });
  said(ran, 1, /^Stopped: after \d+ orders; the output is not whole/);
  assert.match(
    ran.out,
    /\nNOT WHOLE: the export was cut after \d+ orders\n$/,
  );
  await isWhole(ledger.env);
});

Deno.test("rampkit orders export --output leaves no file when stopped", async () => {
  await using ledger = await ledgerFolder();
  const file = `${ledger.folder}/orders.csv`;
  const ran = await stoppedWhen(
    () => has(`${file}.partial`, 1),
    ["orders", "export", "--trust", "all", "--output", file],
    ledger.env,
  );
  said(
    ran,
    1,
    /^Stopped: after [1-9]\d* orders; .*orders\.csv was not written$/m,
  );
  assert.deepEqual(ledger.names(), ["ledger.db"]);
});

Deno.test("rampkit ledger import keeps what it has when stopped, and the same file brings the rest", async () => {
  await using ledger = await ledgerFolder();
  const exported = await cli(["ledger", "export"], ledger.env);
  const half = exported.out.split("\n").slice(0, ORDERS).join("\n") + "\n";
  await using other = await ledgerFolder("none");
  const ran = await stopped(["ledger", "import", "-"], {
    env: other.env,
    input: half,
    until: ({ file }) => file(`${other.folder}/ledger.db-wal`, 1 << 19),
  });
  said(ran, 1, /^Stopped: \d+ events are imported and stay; import the same/m);
  const verified = await cli(["ledger", "verify", "--json"], other.env);
  const { ok, events } = JSON.parse(verified.out);
  assert.equal(ok, true);
  assert.ok(events > 0 && events < ORDERS, `${events} events`);
  const file = `${other.folder}/events.ndjson`;
  await Deno.writeTextFile(file, exported.out);
  const rest = await cli(["ledger", "import", file, "--json"], other.env);
  assert.deepEqual(JSON.parse(rest.out), {
    imported: 2 * ORDERS - events,
    skipped: events,
  });
  await isWhole(other.env);
});

/** What is said of a backup that was stopped. */
const NO_BACKUP =
  /^Stopped: .*copy\.db was not written; the ledger is as it was$/m;

Deno.test("rampkit ledger backup leaves no file that looks whole when stopped", async () => {
  await using ledger = await ledgerFolder();
  const file = `${ledger.folder}/copy.db`;
  // The copy goes on in its thread, and may be done before it is stopped.
  for (let attempt = 1;; attempt++) {
    const ran = await stopped(["ledger", "backup", file], {
      env: ledger.env,
      until: (running) => running.file(`${file}.partial`, 0),
    });
    if (ran.code === 0 && attempt < 20) {
      await Deno.remove(file);
      continue;
    }
    said(ran, 1, NO_BACKUP);
    break;
  }
  assert.deepEqual(ledger.names().filter((name) => /copy/.test(name)), []);
  await isWhole(ledger.env);
});

Deno.test("rampkit ledger backup leaves no file when stopped before and after the copy", async () => {
  await using ledger = await ledgerFolder();
  const file = `${ledger.folder}/copy.db`;
  for (const made of [`${file}.partial`, partialCopy(file)]) {
    const ran = await stoppedWhen(
      () => has(made, 0),
      ["ledger", "backup", file],
      ledger.env,
    );
    said(ran, 1, NO_BACKUP);
    assert.deepEqual(ledger.names().filter((name) => /copy/.test(name)), []);
    // The command waits for no copy; the next test has to, until it is closed.
    const isOpen = ({ name }: Deno.DirEntry) => /-(wal|shm)$/.test(name);
    await until(() => !Deno.readDirSync(ledger.folder).some(isOpen));
  }
  await isWhole(ledger.env);
});

Deno.test("rampkit webhook replay says which line to go on from when stopped", async () => {
  await using ledger = await ledgerFolder("none");
  const ran = await stopped(["webhook", "replay", "-"], {
    env: ledger.env,
    // The endpoint takes bodies up to a mebibyte.
    input: `${" ".repeat(1 << 20)}{}\n${bodies(10)}`,
    until: async ({ ended }) => {
      for (let stored = 0; stored < 20 && !ended();) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        const stats = await cli(["ledger", "stats", "--json"], ledger.env);
        if (stats.code === 0) stored = JSON.parse(stats.out).events.webhook;
      }
    },
  });
  // A line a second tells how far it is.
  const err = ran.err.replace(/^(?:bodies stored: \d+\n)+/, "");
  said(
    { ...ran, err },
    1,
    /^Stopped: the bodies of lines 1 to 21 are stored, except those refused \(lines 1\), and .*fold/,
  );
  assert.match(ran.err, /tail -n \+22 FILE \| rampkit webhook replay -$/);
  await isWhole(ledger.env, 10);
});

Deno.test("rampkit demo ends its endpoint when stopped", async () => {
  await using folder = await temporaryFolder();
  let endpoint = "";
  // So many orders that it cannot end by itself before.
  const many = ["--orders", "5000"];
  const ran = await stopped(["demo", "--folder", folder.path, ...many], {
    until: async ({ line }) => {
      endpoint = (await line(/endpoint at/)).split("endpoint at ")[1] ?? "";
      await (await fetch(`${endpoint}/healthz`)).body?.cancel();
    },
  });
  said(ran, 1, /^Stopped: nothing was compared/m);
  await assert.rejects(fetch(`${endpoint}/healthz`));
  const env = { RAMPKIT_DATABASE_URL: `file:${folder.path}/ledger.db` };
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.equal(JSON.parse(verified.out).ok, true, verified.err);
});

Deno.test("rampkit sim ends between two seeds and says how far it came", async () => {
  const ran = await stopped(["sim", "--runs", "100000"], {
    until: ({ line }) => line(/^seeds run: \d+ of 100000$/),
  });
  assert.match(ran.out, /^\d+ seeds in /);
  // The seeds that are under way run to their end, one in each thread.
  said(ran, 1, /^Stopped: /m);
});

/** Runs a command in this process, against a service that stops it. */
async function stoppedByRequest(
  args: readonly string[],
  env: Record<string, string>,
  atRequest: number,
): Promise<Ran> {
  await using sandbox = createSandbox({ apiKey: env.RAMPKIT_API_KEY ?? "" });
  for (let order = 0; order < 30; order++) sandbox.createOrder();
  const controller = new AbortController();
  let requests = 0;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => {
      if (++requests === atRequest) {
        controller.abort(new DOMException("Interrupted", "AbortError"));
      }
      return sandbox.fetch(request);
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  return await cli(
    args,
    { ...env, RAMPKIT_BASE_URL: url },
    controller.signal,
  );
}

const NO_SESSION = /^Stopped: no answer came; .* lapses after 30 seconds/;

Deno.test("commands that ask the service say what they read when stopped", async () => {
  const day = "2026-01-01";
  for (
    const [args, code, pattern] of [
      [["poll"], 0, /Stopped: \d+ orders and users were read, all are stored/],
      [["poll", "--once"], 1, /^Stopped: \d+ orders.*run it again/m],
      [["reconcile"], 1, /^Stopped: \d+ orders were compared, and nothing is/m],
      [["recover", "--from", day], 1, /^Stopped: .*nothing is proven, run it/m],
      [["doctor"], 1, /^Stopped: \d+ checks were made, the others were not/m],
      [
        ["session", "create", "--commodity", "POL", "--network", "amoy"],
        1,
        NO_SESSION,
      ],
    ] as const
  ) {
    await using ledger = await ledgerFolder("none");
    const file = `${ledger.folder}/none.ndjson`;
    await Deno.writeTextFile(file, "");
    await cli(["webhook", "replay", file], ledger.env);
    const rate = /poll|reconcile|recover/.test(args[0])
      ? ["--rate", "1000"]
      : [];
    const at = args[0] === "doctor" || args[0] === "session" ? 1 : 2;
    const ran = await stoppedByRequest([...args, ...rate], ledger.env, at);
    said(ran, code, pattern);
    const verified = await cli(["ledger", "verify", "--json"], ledger.env);
    assert.equal(JSON.parse(verified.out).ok, true, verified.err);
  }
});

Deno.test("commands that were stopped before they began change nothing", async () => {
  await using ledger = await ledgerFolder("none");
  const file = `${ledger.folder}/bodies.ndjson`;
  await Deno.writeTextFile(file, bodies(2));
  await cli(["webhook", "replay", file], ledger.env);
  const before = await cli(["ledger", "stats", "--json"], ledger.env);
  const signal = AbortSignal.abort(
    new DOMException("Interrupted", "AbortError"),
  );
  for (
    const args of [
      ["ledger", "verify"],
      ["ledger", "refold"],
      ["ledger", "export"],
      ["ledger", "import", file],
      ["ledger", "backup", `${ledger.folder}/copy.db`],
      ["ledger", "export", "--move"],
      ["ledger", "import", file, "--move"],
      ["orders", "export", "--trust", "all"],
      ["orders", "list"],
      ["users", "list"],
      ["webhook", "replay", file],
      ["webhook", "parse", file],
      ["subscriptions", "fire", "order:order-1:claimed.success"],
      ["subscriptions", "retry", "goods"],
      ["subscriptions", "drop", "goods", "key"],
      ["subscriptions", "resume", "goods"],
    ]
  ) {
    const ran = await cli(args, ledger.env, signal);
    assert.equal(ran.code, 1, `${args.join(" ")}: ${ran.out}`);
    assert.match(ran.err, /^Stopped[: ].*\n$/, args.join(" "));
    assert.equal(ran.out, "", args.join(" "));
  }
  const after = await cli(["ledger", "stats", "--json"], ledger.env);
  assert.equal(after.out, before.out);
});

Deno.test("rampkit sandbox ends when stopped, with exit code 0", async () => {
  const controller = new AbortController();
  const ran = await cli(
    ["sandbox", "--port", "0", "--json"],
    {},
    controller.signal,
    () => controller.abort(),
  );
  said(ran, 0, /^Stopped: /);
  await assert.rejects(fetch(JSON.parse(ran.out).url));
});
