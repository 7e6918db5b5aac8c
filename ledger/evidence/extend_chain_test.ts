import assert from "node:assert/strict";
import { genesisHash, linkHash } from "../hashes/chain_hash.ts";

const origin = { environment: "sandbox", ledgerId: "01".repeat(16) };

Deno.test("genesisHash() is pinned", () => {
  assert.equal(
    genesisHash(origin).toHex(),
    "3f474a16232f2d8d1689d15759199057d30ab20b29392e8c84f7f142179e519b",
  );
});

Deno.test("linkHash() is pinned", () => {
  const first = linkHash(genesisHash(origin), 1, new Uint8Array(32).fill(1));
  assert.equal(
    first.toHex(),
    "2e931351c00ba7315857c0398cd8765044d1d9f28abe32f92bab40953b148e57",
  );
  assert.equal(
    linkHash(first, 4, new Uint8Array(32).fill(2)).toHex(),
    "4693ba379df8f4344395c3038fdb70888fd255b46630e2533507978721c6a8c4",
  );
});

Deno.test("linkHash() covers the previous hash, the position and the commitment", () => {
  const [zero, one] = [new Uint8Array(32), new Uint8Array(32).fill(1)];
  const hashes = [
    linkHash(zero, 1, zero),
    linkHash(one, 1, zero),
    linkHash(zero, 2, zero),
    linkHash(zero, 1, one),
  ].map((hash) => hash.toHex());
  assert.equal(new Set(hashes).size, 4);
});

Deno.test("genesisHash() differs between ledgers and environments", () => {
  const hashes = [
    origin,
    { ...origin, environment: "production" },
    { ...origin, ledgerId: "02".repeat(16) },
  ].map((one) => genesisHash(one).toHex());
  assert.equal(new Set(hashes).size, 3);
});
