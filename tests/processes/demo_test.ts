import assert from "node:assert/strict";
import { cli } from "../kit/cli.ts";
import { hasShape } from "../kit/shape.ts";
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
    const { sold, shipped, shippedTwice, waiting } = report.shop;
    assert.equal(sold, 32);
    assert.ok(shipped > 15 && shipped < sold, JSON.stringify(report.shop));
    assert.equal(shippedTwice, 0);
    const kinds = waiting.map(({ kind }: { kind: string }) => kind);
    for (
      const kind of [
        ...["not_as_requested", "paid_twice", "reversed_after_success"],
        "forged_or_unknown",
      ]
    ) assert.ok(kinds.includes(kind), `${kind}: ${kinds}`);
    assert.ok(!kinds.includes("not_comparable"), kinds.join());
    assert.ok(report.webhooksLost > 0, "the network must lose some");
    assert.ok(report.webhooksRepeated > 0, "the network must repeat some");
    hasShape("demo", report);
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
