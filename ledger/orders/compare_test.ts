import fc from "fast-check";
import assert from "node:assert/strict";
import { sameAmount, sameIgnoringCase, sameValue } from "./order_fold.ts";

Deno.test("sameAmount() is equality of integers of smallest units", () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 24n });
  const decimal = (value: bigint) => {
    const digits = value.toString().padStart(19, "0");
    return `${digits.slice(0, -18)}.${digits.slice(-18)}`;
  };
  fc.assert(fc.property(units, units, (a, b) => {
    assert.equal(sameAmount(decimal(a), decimal(b), 18), a === b);
    assert.equal(sameAmount(decimal(a), decimal(a + 1n), 18), false);
    assert.equal(sameAmount(decimal(a), decimal(b), null), a === b);
  }));
});

Deno.test("sameAmount() forgives what lies beyond the asset's precision", () => {
  assert.equal(sameAmount("1.23456", "1.234567", 5), true);
  assert.equal(sameAmount("1.23457", "1.234567", 5), true);
  assert.equal(sameAmount("1.23458", "1.234567", 5), false);
  assert.equal(sameAmount("1.23456", "1.234567", null), false);
});

Deno.test("sameAmount() never calls what is no decimal equal, but to itself", () => {
  assert.equal(sameAmount("", "0", null), false);
  assert.equal(sameAmount("abc", "abc", null), true);
  assert.equal(sameAmount("NaN", "0", 2), false);
});

Deno.test("sameAmount() is quick whatever a forged amount looks like", () => {
  const zeros = "0".repeat(1_000_000);
  const started = performance.now();
  assert.equal(sameAmount(`1.${zeros}1`, "2", 18), false);
  assert.equal(sameAmount(`1.${zeros}`, "1", 18), true);
  assert.equal(sameAmount("1E+999999999", "2", 18), false);
  assert.equal(sameAmount("2", "-1e-999999999", 18), false);
  assert.equal(sameAmount("1E+999999999", "10e999999998", 18), true);
  // Without the care taken it is minutes, gigabytes, or an exception.
  assert(performance.now() - started < 30_000);
});

Deno.test("sameValue() compares addresses and transactions by the one form of their network", () => {
  const on = (network: string | null) => ({ network, decimals: null });
  const evm = `0x${"aB".repeat(20)}`;
  const lower = evm.toLowerCase();
  assert.equal(sameValue("address", evm, lower, on("polygon")), true);
  assert.equal(sameValue("address", evm, lower, on(null)), true);
  assert.equal(sameValue("address", evm, lower, on("solana")), false);
  const hash = "aB".repeat(32);
  assert.equal(
    sameValue("txId", hash, hash.toLowerCase(), on("bitcoin")),
    true,
  );
  assert.equal(sameValue("txId", hash, hash.toLowerCase(), on("base")), false);
});

Deno.test("sameIgnoringCase() looks away from case", () => {
  assert.equal(sameIgnoringCase("cUSDC", "CUSDC"), true);
  assert.equal(sameIgnoringCase("ETH", "ETC"), false);
});
