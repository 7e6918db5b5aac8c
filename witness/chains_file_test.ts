import assert from "node:assert/strict";
import { readChains } from "./chains_file.ts";

const good = { nodes: { own: "http://127.0.0.1:8545" }, confirmations: 3 };

function refusalOf(file: unknown): string {
  try {
    readChains(file);
  } catch (error) {
    assert(error instanceof TypeError);
    return error.message.replace("Cannot use the file of nodes: ", "");
  }
  return assert.fail("it was read");
}

Deno.test("readChains() says where a file cannot be used, and what to do", () => {
  const base = (settings: unknown) => refusalOf({ base: settings });
  const node = (own: unknown) => base({ ...good, nodes: { own } });
  assert.equal(refusalOf([]), "the file: it is not a JSON object");
  assert.match(refusalOf({ solana: good }), /^solana: .*`rampkit assets/);
  assert.match(refusalOf({ vyvo: good }), /^vyvo.chainId: .*; state it$/);
  assert.equal(
    base({ nodes: good.nodes }),
    "base.confirmations: it is missing; use a whole number from 1",
  );
  assert.match(
    base({ ...good, confirmation: 3 }),
    /^base.confirmation: there is no such setting; there are nodes, conf/,
  );
  const atLeastOne = /^base.nodes: name at least one, for example/;
  assert.match(base({ confirmations: 3 }), atLeastOne);
  assert.match(base({ confirmations: 3, nodes: {} }), atLeastOne);
  assert.match(
    base({ ...good, nodes: { "a b": "http://h" } }),
    /^base.nodes.a b: a name has letters/,
  );
  assert.match(node(7), /^base.nodes.own: .*an address nor an object/);
  assert.match(node("ftp://h"), /^base.nodes.own.url: .*http or https URL$/);
  assert.match(
    node({ url: "http://h", header: {} }),
    /^base.nodes.own.header: there is no such setting; there are url/,
  );
  assert.equal(
    base({ ...good, quorum: 2 }),
    "base.quorum: 2 nodes cannot agree where there are 1",
  );
  const contract = `0x${"a".repeat(40)}`;
  const token = (asset: string, token: unknown) =>
    base({ ...good, tokens: { [asset]: token } });
  assert.equal(
    token("USDC", { contract, decimals: 78 }),
    "base.tokens.USDC.decimals: it is 78; use a whole number from 0 to 77",
  );
  assert.match(
    token("ETH", { contract, decimals: 18 }),
    /^base.tokens.ETH: the chain itself moves it/,
  );
  assert.match(
    base({ ...good, tolerance: { ETH: 0.1 } }),
    /^base.tolerance.ETH: .* in quotes, for example "0.0001"$/,
  );
});

Deno.test("readChains() leaves nothing to default", () => {
  const chains = readChains({
    Bitcoin: {
      nodes: { own: "http://alice:100%25@h:1/x/", other: "http://bob:100%@h" },
      confirmations: 3,
      prefix: "RLTC",
    },
  });
  const chain = chains.get("bitcoin") ?? assert.fail();
  assert.deepEqual(chain.nodes.map(({ address }) => address), [
    {
      url: "http://h:1/x",
      headers: { authorization: `Basic ${btoa("alice:100%")}` },
    },
    {
      url: "http://h",
      headers: { authorization: `Basic ${btoa("bob:100%")}` },
    },
  ]);
  assert.deepEqual(
    [chain.quorum, chain.chainId, chain.prefix, chain.blockMs],
    [2, 0, "rltc", 600_000],
  );
});
