import assert from "node:assert/strict";
import { assets } from "../core/assets/assets.ts";
import {
  checkSessionInput,
  type SessionInput,
  type SessionRuleOptions,
} from "./sessions.ts";

const evm = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const production: SessionRuleOptions = { assets: "production" };
const sandbox: SessionRuleOptions = { assets: "sandbox" };

/** Inputs as JavaScript callers write them, wrong types included. */
function check(input: object, options = production) {
  return checkSessionInput(input as SessionInput, options);
}

function fields(input: object, options = production): string[] {
  return check(input, options).faults.map((fault) => fault.field);
}

Deno.test("checkSessionInput() lets every listed pair of each environment through", () => {
  for (const table of ["production", "sandbox"] as const) {
    for (const { commodity, network } of assets[table]) {
      assert.deepEqual(
        fields({ flow_type: "simple", commodity, network }, { assets: table }),
        [],
        `${commodity} ${network}`,
      );
    }
  }
});

const wrong:
  readonly (readonly [string, object, string[], SessionRuleOptions?])[] = [
    ["flow type", { flow_type: "locked" }, ["flow_type"]],
    ["empty user", { user_id: " " }, ["user_id"]],
    ["user of a wrong type", { user_id: 5 }, ["user_id"]],
    ["null", { user_id: null }, ["user_id"]],
    ["commodity without network", { commodity: "POL" }, ["network"]],
    ["commodity as an object", {
      commodity: { commodity: "POL" },
      network: "polygon",
    }, ["commodity"]],
    ["unlisted commodity", { commodity: "DOGE", network: "polygon" }, [
      "commodity",
    ]],
    ["unlisted network", { commodity: "ETH", network: "polygon" }, ["network"]],
    ["network without the default's", { network: "polygon" }, ["network"]],
    ["production asset in sandbox", { commodity: "BTC", network: "bitcoin" }, [
      "commodity",
    ], sandbox],
    ["sandbox asset in production", { commodity: "TT", network: "amoy" }, [
      "commodity",
    ]],
    ["currency of another country", { currency: "GBP" }, ["currency"]],
    ["currency that is an asset", { currency: "BTC" }, ["currency"]],
    ["currency in lower case", { currency: "usd" }, ["currency"]],
    ["EUR in sandbox", { currency: "EUR" }, ["currency"], sandbox],
    ["fiat amount without currency", { currency_amount: "50" }, ["currency"]],
    ["fiat below 1", {
      commodity: "POL",
      network: "polygon",
      currency: "USD",
      currency_amount: "0.99",
    }, ["currency_amount"]],
    ["fiat below 30 for BTC", {
      commodity: "BTC",
      network: "bitcoin",
      currency: "USD",
      currency_amount: "29.999999999999999999",
    }, ["currency_amount"]],
    [
      "fiat below 30 for the default",
      { currency: "USD", currency_amount: 29 },
      ["currency_amount"],
    ],
    ["fiat of zero", { currency: "USD", currency_amount: "0" }, [
      "currency_amount",
    ]],
    ["negative amount", { commodity_amount: "-1" }, ["commodity_amount"]],
    ["float", { currency: "USD", currency_amount: 0.1 + 0.2 }, [
      "currency_amount",
    ]],
    ["exponent", { commodity_amount: "1e3" }, ["commodity_amount"]],
    ["comma", { commodity_amount: "1,5" }, ["commodity_amount"]],
    ["wallet of another network", {
      commodity: "SOL",
      network: "solana",
      wallet_address: evm,
    }, ["wallet_address"]],
    ["wallet with a mistyped letter", {
      commodity: "POL",
      network: "polygon",
      wallet_address: evm.replace("A", "a"),
    }, ["wallet_address"]],
    ["unknown field", { total_amount: "5" }, ["total_amount"]],
    ["restricted without anything", { flow_type: "simple_full_restrict" }, [
      "wallet_address",
      "currency_amount",
    ]],
    ["restricted without amount", {
      flow_type: "simple_full_restrict",
      commodity: "POL",
      network: "polygon",
      wallet_address: evm,
    }, ["currency_amount"]],
    ["restricted without wallet", {
      flow_type: "simple_full_restrict",
      commodity: "POL",
      network: "polygon",
      commodity_amount: "5",
    }, ["wallet_address"]],
    [
      "smart contract of an asset without",
      { commodity: "BTC", network: "bitcoin" },
      ["commodity"],
      { ...production, smartContract: true },
    ],
  ];

for (const [name, input, expected, options] of wrong) {
  Deno.test(`checkSessionInput() refuses: ${name}`, () => {
    assert.deepEqual(fields(input, options), expected);
  });
}

const right: readonly (readonly [string, object, SessionRuleOptions?])[] = [
  ["nothing but the flow", { flow_type: "simple" }],
  ["nothing at all", {}],
  ["nothing in sandbox", { flow_type: "simple" }, sandbox],
  ["the minimum", {
    commodity: "POL",
    network: "polygon",
    currency: "USD",
    currency_amount: "1",
  }],
  ["the minimum for BTC", { currency: "USD", currency_amount: "30.00" }],
  [
    "1 in sandbox, which has no BTC",
    { currency: "USD", currency_amount: "1" },
    sandbox,
  ],
  ["EUR below 1, which is stated for USD", {
    commodity: "POL",
    network: "polygon",
    currency: "EUR",
    currency_amount: "0.95",
  }],
  ["whole numbers", { currency: "USD", currency_amount: 100 }],
  ["undefined fields", { user_id: undefined, currency: undefined }],
  ["restricted with wallet and fiat", {
    flow_type: "simple_full_restrict",
    commodity: "POL",
    network: "polygon",
    wallet_address: evm,
    currency: "USD",
    currency_amount: "5",
  }],
  ["restricted with wallet and asset amount", {
    flow_type: "simple_full_restrict",
    commodity: "POL",
    network: "polygon",
    wallet_address: evm,
    commodity_amount: "5",
  }],
  ["restricted smart contract", {
    flow_type: "simple_full_restrict",
    commodity: "POL",
    network: "polygon",
  }, { ...production, smartContract: true }],
  ["unlisted pair when allowed", {
    commodity: "NEW",
    network: "chain",
    wallet_address: "whatever",
  }, { ...production, allowUnlistedAssets: true }],
  ["a wallet of a network without known form", {
    commodity: "NEAR",
    network: "near",
    wallet_address: "ann.near",
  }],
];

for (const [name, input, options] of right) {
  Deno.test(`checkSessionInput() accepts: ${name}`, () => {
    assert.deepEqual(check(input, options).faults, []);
  });
}

Deno.test("checkSessionInput() lists every fault at once, each with its rule", () => {
  const { faults } = check({
    flow_type: "x",
    commodity: "POL",
    currency_amount: "none",
    wallet: evm,
  });
  assert.deepEqual(faults.map((fault) => fault.field), [
    "wallet",
    "flow_type",
    "network",
    "currency_amount",
    "currency",
  ]);
  assert.match(faults[0]?.rule ?? "", /use wallet_address/);
  for (const { rule } of faults) assert.doesNotMatch(rule, /\.$/);
});

Deno.test("checkSessionInput() warns of what the service ignores or cannot deliver", () => {
  const both = check({
    commodity: "POL",
    network: "polygon",
    commodity_amount: "5",
    currency: "USD",
    currency_amount: "5",
  });
  assert.deepEqual(both.faults, []);
  assert.match(both.warnings.join(), /commodity_amount is ignored/);
  const fine = check({ commodity_amount: "0.12345678" });
  assert.deepEqual(fine.warnings, []);
  const tooFine = check({ commodity_amount: "0.123456789" });
  assert.match(tooFine.warnings.join(), /more decimals/);
});

Deno.test("checkSessionInput() warns of the default asset where it is not sold", () => {
  const { faults, warnings } = check({ currency: "USD" }, sandbox);
  assert.deepEqual(faults, []);
  assert.match(warnings.join(), /takes BTC, which sandbox does not list/);
  const named = check({ commodity: "TT", network: "amoy" }, sandbox);
  assert.deepEqual(named.warnings, []);
  assert.deepEqual(check({ currency: "USD" }).warnings, []);
});

Deno.test("checkSessionInput() sends exact numbers, the default flow and the listed spelling", () => {
  const { body } = check({
    commodity: "CUSDC",
    network: "SEPOLIA",
    commodity_amount: "0.100000000000000001",
  }, sandbox);
  assert.deepEqual(
    JSON.stringify(body),
    '{"commodity":"cUSDC","network":"sepolia",' +
      '"commodity_amount":0.100000000000000001,"flow_type":"simple"}',
  );
});

Deno.test("checkSessionInput() refuses what is no object", () => {
  for (const input of [null, [], "simple", undefined]) {
    assert.throws(() => check(input as unknown as object), TypeError);
  }
});

Deno.test("checkSessionInput() passes extra fields and values on, and applies no rule to them", () => {
  const input = { currency_amount: "50" };
  const extra = { currency: "GBP", loyalty: { tier: 2 } };
  const { faults, body } = checkSessionInput(input, {
    assets: "production",
    extra,
  });
  assert.deepEqual(faults, []);
  assert.equal(body.currency, "GBP");
  assert.deepEqual(body.loyalty, { tier: 2 });
  const without = checkSessionInput(input, { assets: "production" });
  assert.deepEqual(without.faults.map(({ field }) => field), ["currency"]);
});
