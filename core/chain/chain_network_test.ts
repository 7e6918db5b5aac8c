import assert from "node:assert/strict";
import { chainNetwork, chainPairs, isNativeAsset } from "./chain_network.ts";

Deno.test("chainPairs() says of each of the 49 pairs whether it can be looked at", () => {
  const pairs = chainPairs("production");
  const count = (of: (pair: (typeof pairs)[number]) => boolean) =>
    pairs.filter(of).length;
  assert.equal(pairs.length, 49);
  assert.equal(count(({ family }) => family === "evm"), 38);
  assert.equal(count(({ family }) => family === "bitcoin"), 1);
  assert.equal(count(({ witness }) => witness === "unsupported"), 10);
});

Deno.test("isNativeAsset() tells a chain's own asset from a token of the same name elsewhere", () => {
  assert.equal(isNativeAsset("hemi", "ETH"), true);
  assert.equal(isNativeAsset("hemi", "HEMI"), false);
  assert.equal(isNativeAsset("polygon", "WETH"), false);
  assert.equal(isNativeAsset("opbnb", "opBNB"), true);
  assert.equal(isNativeAsset("arbitrum", "ARB"), false);
  assert.equal(isNativeAsset("solana", "SOL"), false);
});

Deno.test("chainNetwork() takes the test chain where the sandbox names a network", () => {
  assert.equal(chainNetwork("Polygon")?.chainId, 137);
  assert.equal(chainNetwork("polygon", "sandbox")?.chainId, 80002);
  assert.equal(chainNetwork("solana"), null);
});
