import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { orderWebhook } from "../../ledger/testing/projection_test_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Where nobody listens. */
const DEAD = "http://127.0.0.1:1";

Deno.test("rampkit doctor asks the public address, whether there is a ledger or not", async () => {
  await using live = await temporaryLedger();
  const args = ["doctor", "--database-url", live.url, "--public-url", DEAD];
  const without = await cli(args);
  assert.equal(without.code, 1);
  assert.match(without.out, /WARN +Ledger +There is none yet/);
  assert.match(
    without.out,
    /FAIL +Endpoint +Its public address does not answer: http:\/\/127.0.0.1:1,/,
  );
  await (await openLedger({ url: live.url, environment: "sandbox" })).close();
  const withOne = await cli(args);
  assert.match(
    withOne.out,
    /FAIL +Endpoint +Its public address does not answer: http:\/\/127.0.0.1:1,/,
  );
});

Deno.test("rampkit doctor does not say that no webhook came where one is stored", async () => {
  await using live = await temporaryLedger();
  {
    await using ledger = await openLedger({
      url: live.url,
      environment: "sandbox",
    });
    // Of the Test button: it also works while delivery is switched off.
    await ledger.append([orderWebhook("W1", 1, { type: "test", orderId: "" })]);
    await ledger.project();
  }
  const { out } = await cli(["doctor", "--database-url", live.url]);
  assert.match(out, /Freshness +Last webhook: .* ago/);
  assert.doesNotMatch(out, /No webhook was ever received/);
  assert.match(
    out.replaceAll(/\s+/g, " "),
    /No webhook of an order or user that the service has shown was received yet/,
  );
});
