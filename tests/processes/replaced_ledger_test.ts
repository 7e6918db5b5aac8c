import assert from "node:assert/strict";
import { Sqlite } from "../../core/sqlite.ts";
import { anchorFilePath } from "../../ledger/testing/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { PERMISSIONS, type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const root = new URL("../..", import.meta.url).pathname;
const SECRET = "the-secret-in-the-webhook-address";

function settings(url: string): Record<string, string> {
  return {
    RAMPKIT_DATABASE_URL: url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
}

/** Sends one delivery for each order at once; all have to be answered 204. */
async function send(served: Served, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map(async (id) => {
    const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "payment_started", order: { id } }),
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 204, id);
  }));
}

const orders = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${name}-${index}`);

function spawn(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Deno.ChildProcess {
  return new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, `${root}cli/main.ts`, ...args],
    cwd: root,
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/**
 * Runs a command in a process of its own. One that ran in this process would
 * leave its connection open for a while, and `ledger restore` sees that.
 */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, `${root}cli/main.ts`, ...args],
    cwd: root,
    env: { ...env },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

async function stored(
  command: typeof run,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const listed = await command(
    ["orders", "list", "--json", "--limit", "0"],
    env,
  );
  assert.equal(listed.code, 0, listed.err);
  return listed.out.trim().split("\n").map((text) => JSON.parse(text).orderId)
    .sort();
}

function logged(served: Served, event: string): readonly string[] {
  return served.log.filter((line) => line.includes(`"event":"${event}"`));
}

/** Waits for the head of the chain, which comes after what is folded. */
async function anchored(folder: string, events: number): Promise<void> {
  const place = anchorFilePath(`${folder}/ledger.db`);
  await until(async () => {
    const text = await Deno.readTextFile(place).catch(() => "");
    return text.includes(`"events":${events},`);
  }, `the chain has ${events} events`);
}

/** Starts `serve` anew on what is there, until nothing waits in its spool. */
async function drained(env: Readonly<Record<string, string>>): Promise<void> {
  await using served = await startServe(env, ["--no-poll"]);
  assert.equal(await served.stop(), 0, served.log.join("\n"));
}

for (const how of ["removed", "replaced"] as const) {
  for (const end of ["stopped", "killed"] as const) {
    Deno.test(`rampkit serve loses no answered delivery when its ledger is ${how} and it is then ${end}`, async () => {
      await using folder = await temporaryLedger();
      const env = settings(folder.url);
      const path = `${folder.folder}/ledger.db`;
      const backup = `${folder.folder}/backup.db`;
      {
        await using served = await startServe(env, ["--no-poll"]);
        await send(served, orders("before", 3));
        await served.settled();
        // A copy made before its chain would be one whose chain was cut.
        await anchored(folder.folder, 3);
        const made = await cli(["ledger", "backup", backup], env);
        assert.equal(made.code, 0, made.err);
        for (const suffix of ["", "-wal", "-shm"]) {
          await Deno.remove(path + suffix);
        }
        if (how === "replaced") await Deno.copyFile(backup, path);
        await send(served, orders("after", 200));
        await until(() => logged(served, "ledger_replaced").length > 0);
        // The line of the log comes a moment before.
        await until(async () => {
          const ready = await fetch(`${served.url}/readyz`);
          return (await ready.json()).degraded.join().includes(`was ${how}`);
        });
        const looked = await cli(["doctor", "--json"], env);
        assert.equal(looked.code, 1, looked.err);
        const { checks } = JSON.parse(looked.out);
        assert.match(
          checks.find(({ name }: { name: string }) => name === "Serve").detail,
          /works on another file/,
        );
        if (end === "killed") await served.kill();
        else assert.equal(await served.stop(), 0);
      }
      if (how === "removed") {
        const restored = await cli(["ledger", "restore", backup], env);
        assert.equal(restored.code, 0, restored.err);
      }
      await drained(env);
      assert.deepEqual(
        await stored(cli, env),
        [...orders("after", 200), ...orders("before", 3)].sort(),
      );
      const verified = await cli(["ledger", "verify"], env);
      assert.equal(verified.code, 0, verified.out + verified.err);
    });
  }
}

Deno.test("rampkit ledger restore is refused while serve runs, and swaps the files once it is killed", async () => {
  await using folder = await temporaryLedger();
  const env = settings(folder.url);
  const backup = `${folder.folder}/backup.db`;
  {
    await using served = await startServe(env, ["--no-poll"]);
    await send(served, orders("old", 2));
    await served.settled();
    const made = await run(["ledger", "backup", backup], env);
    assert.equal(made.code, 0, made.err);
    await send(served, orders("new", 2));
    const refused = await run(["ledger", "restore", backup], env);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /in use by serve \(process \d+\); stop it first/);
    await send(served, orders("newer", 1));
    await served.settled();
    await anchored(folder.folder, 5);
    await served.kill();
  }
  const before = await stored(run, env);
  const done = await run(["ledger", "restore", backup, "--json"], env);
  assert.equal(done.code, 0, done.err);
  const { previousFile, events } = JSON.parse(done.out);
  assert.equal(events, 2);
  assert.deepEqual(await stored(run, env), orders("old", 2));
  // The chain is shorter than the one that was kept, and that is recorded.
  const verified = await run(["ledger", "verify"], env);
  assert.equal(verified.code, 0, verified.out);
  assert.match(verified.out, /A restore gave up the anchored head at .*: 5:/);
  assert.deepEqual(
    before,
    [
      ...orders("new", 2),
      ...orders("newer", 1),
      ...orders("old", 2),
    ].sort(),
  );
  assert.deepEqual(
    await stored(run, { ...env, RAMPKIT_DATABASE_URL: `file:${previousFile}` }),
    before,
  );
  for await (const { name } of Deno.readDir(folder.folder)) {
    assert.doesNotMatch(name, /restoring/);
    const { mode, isFile } = await Deno.stat(`${folder.folder}/${name}`);
    if (isFile) assert.equal((mode ?? 0) & 0o777, 0o600, name);
  }
  const recorded = await Deno.readTextFile(
    `${folder.folder}/ledger.db-restored.ndjson`,
  );
  assert.deepEqual(JSON.parse(recorded), JSON.parse(done.out));
});

Deno.test("rampkit ledger restore refuses a copy that is broken, empty or missing, and changes nothing", async () => {
  await using folder = await temporaryLedger();
  const env = settings(folder.url);
  {
    await using served = await startServe(env, ["--no-poll"]);
    await send(served, orders("kept", 2));
    assert.equal(await served.stop(), 0);
  }
  const broken = `${folder.folder}/broken.db`;
  const made = await cli(["ledger", "backup", broken], env);
  assert.equal(made.code, 0, made.err);
  const database = new Sqlite(broken);
  database.exec("UPDATE events SET recorded_at = '2020-01-01T00:00:00.000Z'");
  database.close();
  const empty = `${folder.folder}/empty.db`;
  await Deno.writeFile(empty, new Uint8Array());
  for (
    const [file, why] of [
      [broken, /is broken at position 1/],
      [empty, /holds no event/],
      [`${folder.folder}/nowhere.db`, /no such file/],
      [import.meta.filename ?? "", /is not a copy of a ledger/],
    ] as const
  ) {
    const refused = await cli(["ledger", "restore", file], env);
    assert.equal(refused.code, 1, refused.out);
    assert.match(refused.err, why);
  }
  assert.deepEqual(await stored(cli, env), orders("kept", 2));
});

Deno.test("rampkit ledger restore that is killed leaves the old ledger or the new one, whole, and can be run again", async () => {
  await using folder = await temporaryLedger();
  const env = settings(folder.url);
  const backup = `${folder.folder}/backup.db`;
  {
    await using served = await startServe(env, ["--no-poll"]);
    await send(served, orders("old", 2));
    await served.settled();
    const made = await run(["ledger", "backup", backup], env);
    assert.equal(made.code, 0, made.err);
    await send(served, orders("new", 2));
    await served.settled();
    await served.kill();
  }
  using watcher = Deno.watchFs(folder.folder);
  const child = spawn(["ledger", "restore", backup], env);
  // The old ledger's second name: the swap comes next. What a kill after each
  // of the steps leaves is in the test of the steps.
  for await (const { paths } of watcher) {
    if (paths.some((path) => path.includes(".replaced-"))) break;
  }
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended already.
  }
  await child.status;
  const verified = await run(["ledger", "verify", "--json"], env);
  assert.equal(verified.code, 0, verified.out + verified.err);
  assert.ok([2, 4].includes(JSON.parse(verified.out).events), verified.out);
  const done = await run(["ledger", "restore", backup], env);
  assert.equal(done.code, 0, done.err);
  assert.deepEqual(await stored(run, env), orders("old", 2));
});
