import assert from "node:assert/strict";
import { Sqlite } from "../../core/sqlite.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { PERMISSIONS } from "../kit/program.ts";

const root = new URL("../..", import.meta.url).pathname;

/** Runs a command whose output nobody reads: each write is a broken pipe. */
async function unread(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, `${root}cli/main.ts`, ...args],
    cwd: root,
    env: { ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  await child.stdout.cancel();
  await child.stderr.cancel();
  return (await child.status).code;
}

Deno.test("rampkit gives the same exit code when the output is a closed pipe", async () => {
  await using ledger = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const bodies = `${ledger.folder}/bodies.ndjson`;
  await Deno.writeTextFile(
    bodies,
    `{"type":"payment_started","order":{"id":"order-1"}}\n`.repeat(3),
  );
  assert.equal((await cli(["webhook", "replay", bodies], env)).code, 0);
  const verified = await cli(["ledger", "verify"], env);
  assert.equal(verified.code, 0, verified.out + verified.err);
  const compare = async (args: readonly string[], code: number) => {
    const ran = await cli(args, env);
    assert.equal(ran.code, code, ran.out + ran.err);
    assert.equal(await unread(args, env), code, args.join(" "));
  };
  await compare(["ledger", "verify"], 0);
  await compare(["--help"], 0);
  await compare(["orders", "show", "nowhere"], 1);
  await compare(["orders", "list", "--no-such-flag"], 2);

  const database = new Sqlite(`${ledger.folder}/ledger.db`);
  database.exec(
    "UPDATE events SET recorded_at = '2020-01-01T00:00:00.000Z' WHERE position = 2",
  );
  database.close();
  await compare(["ledger", "verify", "--json"], 3);
});
