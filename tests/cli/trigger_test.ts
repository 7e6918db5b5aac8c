import assert from "node:assert/strict";
import { serveSandbox } from "../../sandbox/mod.ts";
import { cli } from "../kit/cli.ts";

Deno.test("trigger plays a scenario in a sandbox that runs, and says step by step what happened", async () => {
  await using served = await serveSandbox({ port: 0 });
  const { code, out, err } = await cli([
    ...["trigger", "refund", "--amount", "12.50", "--click", "basket-7"],
    ...["--pause", "0", "--sandbox", served.url],
  ]);
  assert.equal(code, 0, err);
  const [order] = served.sandbox.orders();
  assert.deepEqual(
    [order?.status, order?.failReason, order?.currencyAmount, order?.clickId],
    ["failed", "4016", "12.50", "basket-7"],
  );
  assert.match(out, /^refund: .*4016/);
  assert.match(out, /\n {2}pay +progress +webhook sent\n/);
  assert.ok(out.endsWith(`Order ${order?.orderId}\n`));
  assert.match(err, /No webhook will come.*they have no address/s);
});

Deno.test("trigger names the known scenarios, and refuses what is no address and no amount", async () => {
  for (
    const [args, message] of [
      [["succes"], /^Unknown scenario: "succes" is none of success, failed,/],
      [["success", "--sandbox", "8788"], /^Wrong --sandbox: "8788" is not/],
      [["success", "--amount", "1,50"], /^Wrong --amount: "1,50" is not/],
    ] as const
  ) {
    const { code, err } = await cli(["trigger", ...args]);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, message);
  }
});
