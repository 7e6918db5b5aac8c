import assert from "node:assert/strict";
import {
  type Asset,
  assetDecimals,
  assets,
  findAsset,
  networksOf,
} from "./assets.ts";

// The two tables as the service interface prints them, row by row; read here
// by other code than the one under test.
const productionTable = `
| GHST | polygon (18) | Yes |
| ARB | arbitrum (18) | Yes |
| AVAX | avalanche (18) | Yes |
| BNB | bsc (18) | Yes |
| BTC | bitcoin (8) | No |
| BONE | shibarium (18) | Yes |
| CCD | concordium (5) | Yes |
| CUSDT | mainnet (6) | No |
| ETH | ethereum, arbitrum, base, hemi (18) | Yes |
| EUROE | mainnet (6) | No |
| GPRO | polygon (18) | Yes |
| HEMI | hemi (18) | Yes |
| LAI | ethereum, bsc (18) | No |
| LMWR | ethereum (18) | Yes |
| MANA | polygon, ethereum (18) | Yes |
| NEAR | near (8) | Yes |
| OPBNB | opbnb (18) | Yes |
| POL | polygon (18) | Yes |
| RBTC | rootstock (18) | Yes |
| STX | stacks (6) | No |
| SOL | solana (9) | Yes |
| XTZ | tezos (6); etherlink (18) | Yes |
| TFUEL | theta (18) | Yes |
| TON | ton (8) | Yes |
| USDC | arbitrum, base, ethereum, avalanche, shibarium, solana, polygon, hemi, etherlink (6) | Yes |
| USDSM | etherlink (18) | Yes |
| USDT | polygon (6), ethereum (6), bsc (18), ton (6), hemi (6) | Yes |
| VSC | vyvo (5) | Yes |
| WETH | polygon (18) | Yes |
| XCAD | opbnb, bsc (18) | Yes |
`;

const sandboxTable = `
| BNB | bsc (18) |
| BONE | puppynet (18) |
| CCD | concordium (18) |
| cUSDC | sepolia (6) |
| ETH | sepolia, base_sepolia, arbitrum_sepolia (18) |
| EUROe | concordium (18) |
| HEMI | hemi (18) |
| POL | amoy (18) |
| SOL | solana (9) |
| TT (Test Token) | amoy, bsc, kucoin, base_sepolia, arbitrum_sepolia, sepolia, opbnb, puppynet, hemi, etherlink (18); solana (9) |
| XTZ | ghostnet, etherlink (6) |
| opBNB | opbnb (18) |
| usdsm | etherlink (18) |
`;

/** Reads rows of the form `a, b (18); c (6)`. */
function read(table: string): Asset[] {
  return table.trim().split("\n").flatMap((line) => {
    const [, name = "", networks = "", flag] = line.split("|").map((cell) =>
      cell.trim()
    );
    const commodity = name.replace(" (Test Token)", "");
    const smartContracts = flag === "" ? null : flag === "Yes";
    return networks.matchAll(/([\w, ;]+?) \((\d+)\)/g).flatMap((
      [, names = "", decimals],
    ) =>
      names.split(/[,;]/).map((network) => network.trim()).filter(Boolean).map((
        network,
      ) => ({ commodity, network, decimals: Number(decimals), smartContracts }))
    ).toArray();
  });
}

const byPair = (a: Asset, b: Asset) =>
  `${a.commodity} ${a.network}` < `${b.commodity} ${b.network}` ? -1 : 1;

for (
  const [name, table, pairs] of [
    ["production", productionTable, 49],
    ["sandbox", sandboxTable, 26],
  ] as const
) {
  Deno.test(`assets.${name} is the documented table, pair by pair`, () => {
    const expected = read(table);
    assert.equal(expected.length, pairs);
    assert.deepEqual(
      [...assets[name]].sort(byPair),
      expected.sort(byPair),
    );
  });

  Deno.test(`assetDecimals() knows every pair of ${name} in any case`, () => {
    for (const { commodity, network, decimals } of read(table)) {
      assert.equal(assetDecimals(name, commodity, network), decimals);
      assert.equal(
        assetDecimals(name, commodity.toLowerCase(), network.toUpperCase()),
        decimals,
      );
    }
  });
}

Deno.test("findAsset() gives null for pairs of the other table or of none", () => {
  assert.equal(findAsset("sandbox", "BTC", "bitcoin"), null);
  assert.equal(findAsset("production", "TT", "amoy"), null);
  assert.equal(findAsset("production", "ETH", "polygon"), null);
  assert.equal(assetDecimals("production", "", ""), null);
});

Deno.test("networksOf() lists in table order and knows no strangers", () => {
  assert.deepEqual(networksOf("production", "eth"), [
    "ethereum",
    "arbitrum",
    "base",
    "hemi",
  ]);
  assert.deepEqual(networksOf("sandbox", "BTC"), []);
});
