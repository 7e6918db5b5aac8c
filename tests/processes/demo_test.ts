import assert from "node:assert/strict";
import { chainProgram } from "../../cli/demo/chain/chain_program.ts";
import { openLedger } from "../../ledger/mod.ts";
import { anvilAvailable } from "../../witness/testing/anvil.ts";
import { cli } from "../kit/cli.ts";
import { hasDocumentedShape } from "../kit/documented_shape.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { isThorough } from "../kit/thorough.ts";

/** Runs the demo and gives its report. */
async function demo(...args: string[]) {
  await using folder = await temporaryFolder();
  const ran = await cli(["demo", "--json", "--folder", folder.path, ...args]);
  return { ...ran, report: JSON.parse(ran.out) };
}

for (const seed of isThorough ? [1, 2] : [1]) {
  Deno.test(`rampkit demo ends with 0 differences for seed ${seed}`, async () => {
    const { code, report } = await demo(
      "--seed",
      String(seed),
      "--orders",
      "40",
    );
    assert.equal(code, 0);
    assert.equal(report.differences, 0, JSON.stringify(report.differing));
    assert.equal(report.ordersAtService, 40);
    assert.equal(report.ordersInLedger, 40);
    assert.ok(report.webhooksLost > 0, "the network must lose some");
    assert.ok(report.webhooksRepeated > 0, "the network must repeat some");
    await hasDocumentedShape("demo", report);
  });
}

Deno.test("rampkit demo loses nothing that was answered 204 when the endpoint is killed halfway", async () => {
  const { code, report } = await demo(
    "--crash",
    "--seed",
    "11",
    "--orders",
    "60",
  );
  assert.equal(code, 0);
  assert.equal(report.answeredAndMissing, 0);
  assert.equal(report.differences, 0, JSON.stringify(report.differing));
});

Deno.test({
  name:
    "rampkit demo --witness sees on the chain what was asked and confirmed, and holds what was paid short",
  ignore: !anvilAvailable,
  async fn() {
    await using folder = await temporaryFolder();
    const run = async (...args: string[]) => {
      let out = "";
      let err = "";
      const code = await chainProgram(
        ["--orders=30", "--seed=3", `--folder=${folder.path}`, ...args],
        {
          out: (text) => out += text,
          err: (text) => err += text,
          env: () => undefined,
          columns: null,
          colour: false,
          now: () => Date.now(),
          signal: new AbortController().signal,
        },
      );
      assert.equal(code, 0, err + out);
      return out;
    };
    const report = JSON.parse(await run("--json"));
    await hasDocumentedShape("demo", report);
    assert.equal(report.differences, 0, JSON.stringify(report.differing));
    const { witness } = report;
    assert.equal(witness.asked, 30);
    assert.ok(witness.arrived > 5, JSON.stringify(witness));
    assert.ok(witness.notLookedAt > 0, JSON.stringify(witness));
    assert.equal(
      witness.arrived + witness.notLookedAt + 1,
      witness.confirmed,
    );
    assert.equal(witness.released, witness.confirmed - 1);
    assert.deepEqual(
      witness.held.map(({ orderId }: { orderId: string }) => orderId),
      [witness.shortOrderId],
    );
    await using ledger = await openLedger({
      url: report.databaseUrl,
      worker: false,
    });
    const order = await ledger.orders.get(witness.shortOrderId);
    assert.equal(order?.release, "wait");
    assert.equal(order?.releaseReason, "chain_differs");
    assert.equal(order?.witness?.verdict, "short");
    assert.equal(order?.witness?.final, true);
    assert.equal(order?.status, "success");
  },
});
