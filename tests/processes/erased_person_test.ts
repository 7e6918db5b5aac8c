import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { person } from "../../ledger/testing/person_events.ts";
import { cli } from "../kit/cli.ts";
import { PERMISSIONS, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const SECRET = "secret-0123456789abcdef0123456789";
const root = new URL("../..", import.meta.url).pathname;
const anna = person("ANNA");
const berta = person("BERTA");

/** Files below a folder that hold a text. */
async function holding(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) {
      found.push(...await holding(path, text));
      continue;
    }
    const bytes = await Deno.readFile(path).catch(() => new Uint8Array());
    if (new TextDecoder("latin1").decode(bytes).includes(text)) {
      found.push(path);
    }
  }
  return found;
}

Deno.test("a person is erased beside a serve that runs, and after a kill of the erasure", async () => {
  await using folder = await temporaryFolder();
  const env = {
    RAMPKIT_DATABASE_URL: `file:${folder.path}/ledger.db`,
    RAMPKIT_SPOOL_DIR: `${folder.path}/spool`,
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  {
    await using ledger = await openLedger({
      url: env.RAMPKIT_DATABASE_URL,
      environment: "sandbox",
    });
    await ledger.append([...anna.events, ...berta.events]);
    await ledger.project();
  }
  await using served = await startServe(env, ["--no-poll"]);
  const post = async (events: typeof anna.events) => {
    for (const { kind, body } of events) {
      if (kind !== "webhook") continue;
      const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
        method: "POST",
        body: new Uint8Array(body),
      });
      await answer.body?.cancel();
      assert.equal(answer.status, 204);
    }
    await served.settled();
  };
  await post(anna.events);
  assert.notDeepEqual(await holding(folder.path, "-ANNA-SECRET"), []);

  const erase = ["users", "erase", anna.userId, "--yes"];
  const child = new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, `${root}cli/main.ts`, ...erase],
    cwd: root,
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let said = "";
  for await (
    const text of child.stderr.pipeThrough(new TextDecoderStream())
  ) {
    said += text;
    if (said.includes("Writing the file anew")) break;
  }
  child.kill("SIGKILL");
  await child.status;

  const again = await cli([...erase, "--json"], env);
  assert.equal(again.code, 0, again.err);
  assert.equal(JSON.parse(again.out).cleaned, true);
  assert.equal(
    (await cli(["ledger", "backup", `${folder.path}/b.db`], env)).code,
    0,
  );
  const gone = async () =>
    (await holding(folder.path, "-ANNA-SECRET")).length === 0;
  // The spool empties its file a few seconds after the last delivery.
  await until(gone, "nothing of the person is left");
  assert.notDeepEqual(await holding(folder.path, "-BERTA-SECRET"), []);

  // The endpoint goes on, and what comes late is redacted.
  await post(anna.events);
  await post(berta.events);
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.equal(JSON.parse(verified.out).ok, true);
  await until(gone, "nothing of the person came back");
  assert.equal(await served.stop(), 0, served.log.join("\n"));
  assert.ok(!served.log.some((line) => line.includes("-ANNA-SECRET")));
});
