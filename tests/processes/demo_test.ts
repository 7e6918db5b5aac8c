import assert from "node:assert/strict";
import { cli } from "../kit/cli.ts";
import { hasDocumentedShape } from "../kit/documented_shape.ts";

/** Runs the demo and gives its report. */
async function demo(...args: string[]) {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-demo-" });
  try {
    const ran = await cli(["demo", "--json", "--folder", folder, ...args]);
    return { ...ran, report: JSON.parse(ran.out) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const seed of [1, 2]) {
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
