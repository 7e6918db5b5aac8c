import assert from "node:assert/strict";
import { assets } from "../core/assets/assets.ts";
import { isWalletAddress } from "../core/rules/wallet_address.ts";
import { virtualClock } from "./clock.ts";
import { createSandbox } from "./create_sandbox.ts";
import { addressOf, transactionOf, unitsOf, withPlaces } from "./factory.ts";

Deno.test("unitsOf() refuses what is not a plain decimal", () => {
  for (const text of ["", "1e3", "abc", ".5", "1,5", "0x1"]) {
    assert.throws(() => unitsOf(text, 2), TypeError);
  }
});

Deno.test("withPlaces() keeps the value", () => {
  assert.equal(withPlaces("10", 2), "10.00");
  assert.equal(withPlaces("10.5", 2), "10.50");
  assert.equal(withPlaces("10.123", 2), "10.123");
});

const SEED = "751e76e8199196d454941c45d1b3a323f1433bd6";
const HASH = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbf03e6ef3f15c7e1b35d";

Deno.test("addressOf() writes known values as their networks do", () => {
  // BIP 173's own example of a witness program.
  assert.equal(
    addressOf("bitcoin", SEED),
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  );
  // The reference example of c32check.
  assert.equal(
    addressOf("stacks", "a46ff88886c2ef9762d970b4d2c63678835bd39d"),
    "SP2J6ZY48GV1EZ5V2V5RB9MP66SW86PYKKNRV9EJ7",
  );
  assert.match(addressOf("tezos", SEED), /^tz1[1-9A-Za-z]{33}$/);
  assert.match(addressOf("concordium", SEED), /^[34][1-9A-Za-z]{49}$/);
  assert.match(addressOf("ton", SEED), /^EQ[\w-]{46}$/);
  assert.match(addressOf("near", SEED), /^[0-9a-f]{64}$/);
  assert.equal(addressOf("polygon", SEED), `0x${SEED}`);
});

Deno.test("transactionOf() writes a hash as its network does", () => {
  assert.equal(transactionOf("bitcoin", HASH), HASH);
  assert.equal(transactionOf("base", HASH), `0x${HASH}`);
  assert.match(transactionOf("solana", HASH), /^[1-9A-Za-z]{86,88}$/);
  assert.match(transactionOf("tezos", HASH), /^o[1-9A-Za-z]{50}$/);
  assert.match(transactionOf("ghostnet", HASH), /^o[1-9A-Za-z]{50}$/);
});

Deno.test("addressOf() gives every network of the tables an address of its own form", () => {
  for (const { network } of [...assets.production, ...assets.sandbox]) {
    assert.notEqual(
      isWalletAddress(network, addressOf(network, SEED)),
      false,
      network,
    );
  }
});

Deno.test("createOrder() gives an order address and transaction of its own network", async () => {
  const sandbox = createSandbox({ clock: virtualClock(0) });
  const { orderId, address } = sandbox.createOrder({
    commodity: "SOL",
    network: "solana",
  });
  assert.equal(isWalletAddress("solana", address), true);
  sandbox.advance(orderId, "pay");
  const { txId } = sandbox.advance(orderId, "complete");
  assert.match(txId, /^[1-9A-Za-z]{86,88}$/);
  await sandbox.close();
});
