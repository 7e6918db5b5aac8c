import assert from "node:assert/strict";
import * as z from "zod";
import { jsonSchemaOf } from "../../resources/schemas/json_schema.ts";
import { SHAPES } from "../../resources/schemas/shapes.ts";
import { type ChainsFile, readChains } from "../../witness/mod.ts";

const TOKEN = `0x${"a".repeat(40)}`;

/** The file that the page shows. */
async function documentedFile(): Promise<ChainsFile> {
  const text = await Deno.readTextFile(
    new URL("../../docs/integrate.md", import.meta.url),
  );
  return JSON.parse(
    /^```json\n(\{\n {2}"bitcoin"[\s\S]*?)^```/m.exec(text)?.[1] ?? "",
  );
}

function schema(): z.ZodType {
  const name = "chains-file";
  return z.fromJSONSchema(
    jsonSchemaOf(
      name,
      SHAPES[name]?.component ?? "",
    ) as z.core.JSONSchema.JSONSchema,
  );
}

function isRead(file: unknown): boolean {
  try {
    readChains(file);
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

Deno.test("the file of nodes that the page shows is valid against the schema, and is read", async () => {
  const file = await documentedFile();
  const read = schema().safeParse(file);
  if (!read.success) assert.fail(z.prettifyError(read.error));
  const chains = readChains(file);
  assert.deepEqual([...chains.keys()], Object.keys(file));
  assert.deepEqual(
    chains.get("bitcoin")?.nodes.map(({ name, kind }) => [name, kind]),
    [["core-1", "core"], ["esplora", "esplora"]],
  );
});

Deno.test("the schema of the file of nodes refuses what its reader refuses", () => {
  const own = "http://127.0.0.1:8545";
  const good = { nodes: { own }, confirmations: 3 };
  const accepted: unknown[] = [
    {},
    { base: good },
    { base: { ...good, quorum: 1, blockMs: 2000, chainId: 7 } },
    { base: { ...good, tokens: { USDC: { contract: TOKEN, decimals: 6 } } } },
    { base: { ...good, tolerance: { ETH: "0.0001" } } },
    { bitcoin: { ...good, prefix: "rltc", genesis: "ab".repeat(32) } },
    {
      base: { ...good, nodes: { a: { url: own, headers: { "x-key": "k" } } } },
    },
  ];
  const refused: unknown[] = [
    [],
    { base: own },
    { base: { nodes: { own } } },
    { base: { confirmations: 3 } },
    { base: { ...good, nodes: {} } },
    { base: { ...good, nodes: [own] } },
    { base: { ...good, nodes: { "a b": own } } },
    { base: { ...good, nodes: { own: 7 } } },
    { base: { ...good, nodes: { own: { headers: {} } } } },
    { base: { ...good, nodes: { own: { url: own, header: {} } } } },
    { base: { ...good, nodes: { own: { url: "ftp://127.0.0.1" } } } },
    { base: { ...good, nodes: { own: { url: own, headers: { key: 1 } } } } },
    { bitcoin: { ...good, nodes: { own: { url: own, kind: "electrum" } } } },
    { base: { ...good, confirmations: 0 } },
    { base: { ...good, confirmations: "3" } },
    { base: { ...good, confirmation: 3 } },
    { base: { ...good, quorum: 0 } },
    { base: { ...good, blockMs: 1.5 } },
    { base: { ...good, chainId: -1 } },
    { bitcoin: { ...good, prefix: "" } },
    { bitcoin: { ...good, genesis: "" } },
    { base: { ...good, tokens: { USDC: TOKEN } } },
    { base: { ...good, tokens: { USDC: { contract: TOKEN } } } },
    { base: { ...good, tokens: { USDC: { contract: "0x1", decimals: 6 } } } },
    { base: { ...good, tokens: { USDC: { contract: TOKEN, decimals: 78 } } } },
    {
      base: {
        ...good,
        tokens: { USDC: { contract: TOKEN, decimals: 6, symbol: "USDC" } },
      },
    },
    { base: { ...good, tolerance: { ETH: 0.0001 } } },
  ];
  const check = schema();
  const said = (files: readonly unknown[]) =>
    files.map((file) => [
      JSON.stringify(file),
      check.safeParse(file).success,
      isRead(file),
    ]);
  assert.deepEqual(
    said(accepted),
    accepted.map((file) => [JSON.stringify(file), true, true]),
  );
  assert.deepEqual(
    said(refused),
    refused.map((file) => [JSON.stringify(file), false, false]),
  );
});
