import assert from "node:assert/strict";
import { cli } from "../kit/cli.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const CHAINS = {
  polygon: {
    nodes: { own: "http://alice:hunter2@127.0.0.1:1" },
    confirmations: 64,
    tokens: { USDC: { contract: `0x${"a".repeat(40)}`, decimals: 6 } },
  },
};

/** The row of a pair, without the room between its columns. */
function row(out: string, asset: string, network: string): string {
  const lines = out.split("\n").map((line) => line.replaceAll(/ {2,}/g, "|"));
  return lines.find((line) => line.startsWith(`${asset}|${network}|`)) ?? "";
}

Deno.test("assets --witness says of each of the 49 pairs whether it can be looked at, or why not", async () => {
  const { code, out } = await cli(["assets", "--witness"]);
  assert.equal(code, 0);
  const [head = "", ...lines] = out.split("\n\n")[0]?.split("\n") ?? [];
  assert.match(head, /^Asset +Network +What it takes, or why not$/);
  assert.equal(lines.length, 49);
  assert.equal(
    row(out, "SOL", "solana"),
    "SOL|solana|this version cannot ask nodes of the network",
  );
  assert.equal(
    row(out, "BTC", "bitcoin"),
    "BTC|bitcoin|a node with txindex=1, or Esplora",
  );
  assert.match(row(out, "VSC", "vyvo"), /the chainId, which is not built in/);
  assert.match(out, /\n39 of 49 pairs can be looked at\.\n$/);
});

Deno.test("assets --witness says which pairs the nodes of this installation are asked about", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/chains.json`;
  await Deno.writeTextFile(file, JSON.stringify(CHAINS));
  const env = { RAMPKIT_CHAINS: file };
  const { out } = await cli(["assets", "--witness"], env);
  const here = (asset: string, network: string) =>
    row(out, asset, network).split("|")[2];
  assert.equal(here("POL", "polygon"), "yes");
  assert.equal(here("USDC", "polygon"), "yes");
  assert.equal(
    here("USDT", "polygon"),
    "no: no contract of the token is pinned",
  );
  assert.equal(here("ETH", "base"), "no: no node of the network is configured");
  assert.match(out, /; your nodes are asked about 2\.\n$/);
  assert.doesNotMatch(out, /hunter2|127\.0\.0\.1/);
  const json = await cli(["assets", "--json"], env);
  const pairs = json.out.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(
    pairs.filter(({ notAsked }) => notAsked === null).length,
    2,
  );
});

Deno.test("assets --environment sandbox lists the test chains", async () => {
  const { out } = await cli([
    ...["assets", "--witness", "--environment", "sandbox"],
  ]);
  assert.match(row(out, "ETH", "sepolia"), /a node of chain 11155111/);
  const plain = await cli(["assets", "--environment", "sandbox"]);
  assert.equal(row(plain.out, "TT", "amoy"), "TT|amoy|18|?");
});
