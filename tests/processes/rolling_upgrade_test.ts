import assert from "node:assert/strict";
import { FOLD_VERSION } from "../../ledger/for_sync.ts";
import { openLedger } from "../../ledger/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";
const root = new URL("../../", import.meta.url);

/** Makes a command line that runs the program with the fold before this one. */
async function earlierFold(
  folder: string,
): Promise<(program: readonly string[]) => readonly string[]> {
  const { imports } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const version = `${folder}/fold_version.ts`;
  await Deno.writeTextFile(
    version,
    `export const FOLD_VERSION = ${FOLD_VERSION - 1};\n`,
  );
  const config = `${folder}/deno.json`;
  const replaced = new URL("ledger/projection/fold_version.ts", root).href;
  await Deno.writeTextFile(
    config,
    JSON.stringify({
      imports: { ...imports, [replaced]: new URL(`file://${version}`).href },
    }),
  );
  // Without the lock file, packages that nothing imports would be looked up.
  const lock = `${folder}/deno.lock`;
  await Deno.copyFile(new URL("deno.lock", root), lock);
  return ([deno = "", run = "", ...rest]) => [
    deno,
    run,
    "--cached-only",
    `--lock=${lock}`,
    `--config=${config}`,
    ...rest,
  ];
}

Deno.test("two versions of rampkit serve take deliveries side by side, and the new fold takes over", async () => {
  await using stored = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: stored.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
  };
  const sent: string[] = [];
  const send = async (served: Served, count: number) => {
    await Promise.all(Array.from({ length: count }, async () => {
      const id = `order-${sent.length}`;
      sent.push(id);
      const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
        method: "POST",
        body: JSON.stringify({ type: "order_complete", order: { id } }),
      });
      await answer.body?.cancel();
      assert.equal(answer.status, 204, id);
    }));
  };
  const foldedBy = async () => {
    const { ok } = await (await fetch(`${current.url}/readyz`)).json();
    assert.equal(ok, true);
    await using ledger = await openLedger({
      url: stored.url,
      readOnly: true,
      worker: false,
    });
    const { orders, lag } = await ledger.stats();
    const [row] = await ledger.driver.batch([{
      sql: "SELECT fold_version FROM ledger",
      args: [],
    }], "read");
    return lag === 0 && orders === sent.length ? row?.rows[0]?.[0] : null;
  };

  await using before = await startServe(
    env,
    ["--no-poll"],
    await earlierFold(stored.folder),
  );
  let current = before;
  await send(before, 20);
  await until(async () => await foldedBy() === FOLD_VERSION - 1);
  await using after = await startServe(env, ["--no-poll"]);
  for (let round = 0; round < 5; round++) {
    await Promise.all([send(before, 10), send(after, 10)]);
  }
  // The old version goes on taking deliveries, and the new one folds them all.
  await until(async () => await foldedBy() === FOLD_VERSION);
  await send(before, 10);
  await until(async () => await foldedBy() === FOLD_VERSION);
  assert.equal(await before.stop(), 0);
  current = after;
  await send(after, 10);
  await until(async () => await foldedBy() === FOLD_VERSION);
  assert.equal(await after.stop(), 0);

  const verified = await cli(["ledger", "verify", "--states"], env);
  assert.equal(verified.code, 0, verified.out + verified.err);
  const listed = await cli(["orders", "list", "--json"], env);
  const ids = listed.out.trim().split("\n")
    .map((text) => JSON.parse(text).orderId);
  assert.deepEqual(ids.sort(), sent.toSorted());
});
