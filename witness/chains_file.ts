import * as z from "zod";
import type { AssetTable } from "../core/assets/environment.ts";
import { chainNetwork, isNativeAsset } from "../core/chain/chain_network.ts";
import { isDecimal } from "../core/decimal.ts";
import type { NodeAddress } from "./http_node.ts";

/** The file that names the nodes to ask: networks by their name. */
export interface ChainsFile {
  /** A network, by its name in the asset table. */
  readonly [network: string]: ChainSettings;
}

/** The nodes of one network, and what counts there. */
export interface ChainSettings {
  /**
   * The nodes, by names of your own, which are shown in place of their
   * addresses.
   *
   * @minProperties 1
   * @propertyNames { "pattern": "^[A-Za-z0-9_.-]{1,40}$" }
   */
  readonly nodes: { readonly [name: string]: string | NodeSettings };
  /**
   * Blocks, that of the transaction included, after which it counts as final.
   *
   * @minimum 1
   */
  readonly confirmations: number;
  /**
   * How many nodes have to agree.
   *
   * @default {more than half of them}
   * @minimum 1
   */
  readonly quorum?: number;
  /** EIP-155 id of the chain, where it is not built in or is another one. */
  readonly chainId?: number;
  /**
   * Hash of the first block, where the chain is not Bitcoin's main one.
   *
   * @minLength 1
   */
  readonly genesis?: string;
  /**
   * Beginning of SegWit addresses.
   *
   * @default {"bc"}
   * @minLength 1
   */
  readonly prefix?: string;
  /** Token contracts that you trust, by the asset's code. */
  readonly tokens?: { readonly [asset: string]: TokenSettings };
  /**
   * Difference in an amount that is ignored, by the asset's code, a plain
   * decimal. A larger one holds the release back; without a tolerance it is
   * only reported.
   */
  readonly tolerance?: { readonly [asset: string]: string };
  /**
   * Time between two blocks in milliseconds.
   *
   * @default {what is usual on the network}
   * @asType integer
   * @minimum 1
   */
  readonly blockMs?: number;
}

/** One node. */
export interface NodeSettings {
  /**
   * Address; `http://user:password@host` sends them as a header.
   *
   * @pattern ^[Hh][Tt][Tt][Pp][Ss]?://
   */
  readonly url: string;
  /** Headers to send, for example with a key. */
  readonly headers?: { readonly [name: string]: string };
  /** Of Bitcoin's nodes: which of the two. @default {"core"} */
  readonly kind?: "core" | "esplora";
}

/** A token contract that the partner trusts. */
export interface TokenSettings {
  /**
   * Address of the contract.
   *
   * @pattern ^0x[0-9a-fA-F]{40}$
   */
  readonly contract: string;
  /**
   * Decimals of the token on the chain.
   *
   * @maximum 77
   */
  readonly decimals: number;
}

/** A network that can be asked. */
export interface Chain {
  /** Its name in lower case. */
  readonly network: string;
  /** How its nodes are asked. */
  readonly family: "evm" | "bitcoin";
  /** The nodes. */
  readonly nodes: readonly ChainNode[];
  /** How many of them have to agree. */
  readonly quorum: number;
  /** Blocks that count as final. */
  readonly confirmations: number;
  /** EIP-155 id; 0 for Bitcoin. */
  readonly chainId: number;
  /** Hash of the first block; empty for EVM chains. */
  readonly genesis: string;
  /** Beginning of SegWit addresses. */
  readonly prefix: string;
  /** Decimals of the chain's own asset. */
  readonly nativeDecimals: number;
  /** Pinned tokens by upper-case code. */
  readonly tokens: ReadonlyMap<string, TokenSettings>;
  /** Tolerances by upper-case code. */
  readonly tolerance: ReadonlyMap<string, string>;
  /** Time between two blocks, in milliseconds. */
  readonly blockMs: number;
}

/** A node of a chain. */
export interface ChainNode {
  /** Name, which is shown. */
  readonly name: string;
  /** How it is reached, which is not. */
  readonly address: NodeAddress;
  /** What it speaks. */
  readonly kind: "evm" | "core" | "esplora";
}

/** Networks that can be asked, by their name in lower case. */
export type Chains = ReadonlyMap<string, Chain>;

/** First block of Bitcoin's main chain. */
const BITCOIN_GENESIS =
  "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";

const NO_OBJECT = "it is not a JSON object";

/** A misspelt setting would otherwise count for nothing, and nobody notice. */
function settings<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  otherwise = NO_OBJECT,
) {
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === "unrecognized_keys"
        ? `there is no such setting; there are ${Object.keys(shape).join(", ")}`
        : otherwise,
  });
}

function whole(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `it is ${
      JSON.stringify(input) ?? "missing"
    }; use a whole number from ${least}${most < 1000 ? ` to ${most}` : ""}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

const text = z.string("it is not a text").min(1, "it is not a text");

const node = settings({
  url: z.string("it has no `url`").refine(
    (url) => /^https?:/i.test(url) && URL.canParse(url),
    "its address is not an absolute http or https URL",
  ),
  headers: z.record(
    z.string(),
    z.string("it is not a text"),
    "it is not an object of texts",
  ).optional(),
  kind: z.enum(["core", "esplora"], 'use "core" or "esplora"').optional(),
}, "it is neither an address nor an object with `url`");

const token = settings({
  contract: z.string("it is not a text").regex(
    /^0x[0-9a-fA-F]{40}$/,
    "it is not an address of a contract, 0x and 40 hex digits",
  ),
  decimals: whole(0, 77),
});

const NO_NODES = 'name at least one, for example { "own-1": "http://..." }';

const nodeName = z.string().regex(
  /^[A-Za-z0-9_.-]{1,40}$/,
  "a name has letters, digits, `-`, `_` and `.` only",
);

const network = settings({
  nodes: z.record(
    nodeName,
    z.preprocess((one) => typeof one === "string" ? { url: one } : one, node),
    NO_NODES,
  ).refine((nodes) => Object.keys(nodes).length > 0, NO_NODES),
  confirmations: whole(1),
  quorum: whole(1).optional(),
  chainId: whole(0).optional(),
  genesis: text.optional(),
  prefix: text.optional(),
  tokens: z.record(z.string(), token, NO_OBJECT).optional(),
  tolerance: z.record(
    z.string(),
    z.custom<string>(
      (one) =>
        typeof one === "string" && isDecimal(one) && !one.startsWith("-"),
      'it is not a plain decimal in quotes, for example "0.0001"',
    ),
    NO_OBJECT,
  ).optional(),
  blockMs: whole(1).optional(),
});

const chainsFile = z.record(z.string(), network, NO_OBJECT);

/**
 * Checks what the file of nodes says. No message quotes an address or a header
 * of a node: they may hold keys.
 *
 * @param file The file's JSON value.
 * @param table Asset table of the environment.
 * @returns The networks that can be asked.
 * @throws {TypeError} When something in it cannot be used.
 *
 * @example One network, one node
 * ```ts
 * import { readChains } from "@rampkit/onramp/witness";
 * import assert from "node:assert/strict";
 *
 * const chains = readChains({
 *   ethereum: {
 *     nodes: { "geth-1": "http://127.0.0.1:8545" },
 *     confirmations: 32,
 *     tokens: {
 *       USDC: {
 *         contract: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
 *         decimals: 6,
 *       },
 *     },
 *   },
 * });
 * assert.equal(chains.get("ethereum")?.quorum, 1);
 * ```
 */
export function readChains(
  file: unknown,
  table: AssetTable = "production",
): Chains {
  const read = chainsFile.safeParse(file);
  if (!read.success) {
    const [issue] = read.error.issues;
    const key = issue?.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const { message } = (issue?.code === "invalid_key" && issue.issues[0]) ||
      read.error.issues[0] || { message: "" };
    const path = [...issue?.path ?? [], ...key === undefined ? [] : [key]];
    throw wrong(path.join(".") || "the file", message);
  }
  return new Map(
    Object.entries(read.data).map(([name, given]) => [
      name.toLowerCase(),
      chainOf(name, given, table),
    ]),
  );
}

function chainOf(
  name: string,
  given: z.output<typeof network>,
  table: AssetTable,
): Chain {
  const known = chainNetwork(name, table);
  if (known === null) {
    throw wrong(
      name,
      "its nodes cannot be asked by this version; `rampkit assets --witness` lists those that can",
    );
  }
  const { family, nativeDecimals } = known;
  const isEvm = family === "evm";
  const nodes = Object.entries(given.nodes).map(
    ([name, { url, headers = {}, kind = "core" }]): ChainNode => ({
      name,
      address: addressOf(new URL(url), headers),
      kind: isEvm ? "evm" : kind,
    }),
  );
  const quorum = given.quorum ?? Math.floor(nodes.length / 2) + 1;
  if (quorum > nodes.length) {
    throw wrong(
      `${name}.quorum`,
      `${quorum} nodes cannot agree where there are ${nodes.length}`,
    );
  }
  const chainId = isEvm ? given.chainId ?? known.chainId : 0;
  if (chainId === null) {
    throw wrong(`${name}.chainId`, "it is not built in; state it");
  }
  const native = Object.keys(given.tokens ?? {})
    .find((asset) => isNativeAsset(name, asset));
  if (native !== undefined) {
    throw wrong(
      `${name}.tokens.${native}`,
      "the chain itself moves it: it has no contract",
    );
  }
  return {
    network: name.toLowerCase(),
    family,
    nodes,
    quorum,
    confirmations: given.confirmations,
    chainId,
    genesis: isEvm ? "" : (given.genesis ?? BITCOIN_GENESIS).toLowerCase(),
    prefix: (given.prefix ?? "bc").toLowerCase(),
    nativeDecimals,
    tokens: byAsset(given.tokens, ({ contract, decimals }) => ({
      contract: contract.toLowerCase(),
      decimals,
    })),
    tolerance: byAsset(given.tolerance, (most) => most),
    blockMs: given.blockMs ?? known.blockMs,
  };
}

function byAsset<From, To>(
  values: Readonly<Record<string, From>> | undefined,
  to: (value: From) => To,
): ReadonlyMap<string, To> {
  return new Map(
    Object.entries(values ?? {}).map(([asset, value]) => [
      asset.toUpperCase(),
      to(value),
    ]),
  );
}

/** Credentials of an address are sent as a header. */
function addressOf(
  url: URL,
  headers: Readonly<Record<string, string>>,
): NodeAddress {
  const [user, password] = [url.username, url.password].map(decoded);
  url.username = url.password = "";
  return {
    url: url.href.replace(/\/+$/, ""),
    headers: {
      ...user && { authorization: `Basic ${btoa(`${user}:${password}`)}` },
      ...headers,
    },
  };
}

/** The text as it stands where a `%` in it begins no character. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function wrong(at: string, why: string): TypeError {
  return new TypeError(`Cannot use the file of nodes: ${at}: ${why}`);
}
