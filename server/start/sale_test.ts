import assert from "node:assert/strict";
import { OnrampClient, sandbox } from "../../client/mod.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { sell } from "./sale.ts";

Deno.test("sell() sells an asset that the list does not have where the sale says so, and its refusals name the fields of the sale", async () => {
  await using ledger = await emptyLedger();
  const sent: string[] = [];
  const { sessions } = new OnrampClient({
    environment: sandbox,
    apiKey: "key-of-a-test",
    fetch: async (input, init) => {
      sent.push(await new Request(input, init).text());
      return Response.json({ sessionId: "S1", requestId: "R1" });
    },
  });
  const sale = {
    ...{ reference: "basket-1", amount: "49.90" },
    currency: "USD",
    ...{ asset: "NEWCOIN", network: "newchain" },
  } as const;
  const parts = { sessions, ledger };
  await assert.rejects(sell(parts, sale), (error: Error) => {
    assert.match(error.message, /^Cannot sell: asset: "NEWCOIN" is not listed/);
    assert.match(error.message, /or pass allowUnlistedAssets: true/);
    return true;
  });
  await assert.rejects(
    sell(parts, {
      ...{ reference: "basket-1", amount: "4.999", asset: "ETH" },
      ...{ wallet: "0x1" },
    }),
    (error: Error) => {
      assert.match(error.message, /network: is missing; asset is set and/);
      assert.match(error.message, /currency: is missing; amount is set and/);
      assert.doesNotMatch(
        error.message,
        /commodity|currency_amount|wallet_address/,
      );
      return true;
    },
  );
  assert.deepEqual(sent, []);
  const sold = await sell(parts, { ...sale, allowUnlistedAssets: true });
  assert.equal(sold.sessionId, "S1");
  assert.match(sent[0] ?? "", /NEWCOIN/);
  assert.doesNotMatch(sent[0] ?? "", /allowUnlisted/i);
});
