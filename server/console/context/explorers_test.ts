import assert from "node:assert/strict";
import { assets } from "../../../core/assets/assets.ts";
import { EXPLORERS, explorerUrl } from "./page_context.ts";

/** Networks on which no explorer is known. */
const WITHOUT = ["kucoin", "mainnet", "vyvo"];

Deno.test("EXPLORERS has an address for each network of the tables, but for those that have none", () => {
  const networks = new Set(
    [...assets.production, ...assets.sandbox].map(({ network }) => network),
  );
  const missing = [...networks].filter((network) =>
    explorerUrl(EXPLORERS, network, "0x1") === null
  );
  assert.deepEqual(missing.sort(), WITHOUT);
  for (const [network, address] of Object.entries(EXPLORERS)) {
    assert.match(address, /^https:\/\/[a-z.]+\/.*\{tx\}$/, network);
  }
});

Deno.test("explorerUrl() takes a transaction for text alone", () => {
  assert.equal(
    explorerUrl(EXPLORERS, "Ethereum", '"><script>/../x?y=$&'),
    "https://etherscan.io/tx/%22%3E%3Cscript%3E%2F..%2Fx%3Fy%3D%24%26",
  );
  for (const network of ["nowhere", "constructor", "__proto__"]) {
    assert.equal(explorerUrl(EXPLORERS, network, "0x1"), null);
  }
  for (const txId of ["", ".", ".."]) {
    assert.equal(explorerUrl(EXPLORERS, "ethereum", txId), null);
  }
  assert.equal(explorerUrl(EXPLORERS, null, "0x1"), null);
});
