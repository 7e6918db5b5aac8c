import assert from "node:assert/strict";
import { serveSandbox } from "../../sandbox/mod.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { unitCommandAt } from "../kit/unit_command.ts";
import { until } from "../kit/until.ts";

const SECRET = "the-secret-in-the-webhook-address";

Deno.test("the unit of systemd takes, confirms and backs up with exactly the permissions it lists, and a lost disk is restored", async () => {
  await using ledger = await temporaryLedger();
  await using served = await serveSandbox({ port: 0 });
  const { sandbox } = served;
  const success = () => {
    const { orderId } = sandbox.createOrder();
    for (const step of ["pay", "authorise", "complete"] as const) {
      sandbox.advance(orderId, step);
    }
    return orderId;
  };
  const env = {
    RAMPKIT_DATABASE_URL: ledger.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    RAMPKIT_API_KEY: sandbox.apiKey,
    RAMPKIT_BASE_URL: served.url,
  };
  const trustOf = async (orderId: string) => {
    const { code, out } = await cli(["orders", "show", orderId, "--json"], env);
    return code === 0 ? JSON.parse(out).trust : null;
  };

  const before = success();
  const polled = await cli(["poll", "--once", "--rate", "1000"], env);
  assert.equal(polled.code, 0, polled.err);
  const command = await unitCommandAt({
    state: ledger.folder,
    service: new URL(served.url).host,
  });
  let after: string;
  let backup: { readonly file: string; readonly expect: string };
  {
    await using daemon = await startServe(env, [], () => command);
    await until(() => daemon.log.some((line) => line.includes("backup_made")));
    backup = daemon.log.filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line))
      .find(({ event }) => event === "backup_made");
    after = success();
    const answer = await fetch(`${daemon.url}/webhooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "order_complete", order: { id: after } }),
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 204);
    await until(async () => await trustOf(after) === "confirmed");
    const looked = await cli(["doctor"], env);
    assert.match(
      looked.out,
      /^ok +Backups +The newest backup is young enough: in .*, it was made \d+ m?s/m,
    );
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    assert.match(metrics, /^rampkit_backup_age_seconds \d/m);
    assert.match(metrics, /^rampkit_orders\{status="success"\} \d/m);
    // With these permissions everything can be looked at, the disk too.
    assert.match(metrics, /^rampkit_condition\{code="not_looked_at",.*\} 0$/m);
    assert.equal(await daemon.stop(), 0);
    const denied = /NotCapable|Requires .* access/;
    assert.deepEqual(daemon.log.filter((line) => denied.test(line)), []);
  }

  // The disk is lost, and the backup was elsewhere.
  const elsewhere = `${ledger.folder}/elsewhere.db`;
  await Deno.rename(backup.file, elsewhere);
  for (const end of ["", "-wal", "-shm", "-chain", "-spool"]) {
    await Deno.remove(`${ledger.folder}/ledger.db${end}`, { recursive: true })
      .catch(() => {});
  }
  const restored = await cli(["ledger", "restore", elsewhere], env);
  assert.equal(restored.code, 0, restored.err);
  assert.equal(await trustOf(before), "confirmed");
  assert.equal(await trustOf(after), null);
  const recovered = await cli([
    "recover",
    "--from",
    new Date(Date.now() - 86_400_000).toISOString(),
    "--rate",
    "1000",
  ], env);
  assert.equal(recovered.code, 0, recovered.err);
  assert.equal(await trustOf(after), "confirmed");
  const verified = await cli(
    ["ledger", "verify", "--states", "--expect", backup.expect],
    env,
  );
  assert.equal(verified.code, 0, verified.out + verified.err);
});
