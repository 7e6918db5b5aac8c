import { isRecord } from "../core/guards.ts";
import { isDecimal } from "../core/decimal.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { chainNetwork, isNativeAsset } from "../core/chain/chain_network.ts";
import { hasWalletShape } from "../core/rules/wallet_shape.ts";
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

const SETTINGS: readonly (keyof ChainSettings)[] = [
  ...["nodes", "confirmations", "quorum", "chainId", "genesis"] as const,
  ...["prefix", "tokens", "tolerance", "blockMs"] as const,
];
const OF_NODES: readonly (keyof NodeSettings)[] = ["url", "headers", "kind"];
const OF_TOKENS: readonly (keyof TokenSettings)[] = ["contract", "decimals"];

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
  if (!isRecord(file)) {
    throw wrong("the file", "it is not a JSON object of networks");
  }
  return new Map(
    Object.entries(file).map(([network, settings]) => {
      const chain = readChain(network, settings, table);
      return [chain.network, chain];
    }),
  );
}

function readChain(
  network: string,
  settings: unknown,
  table: AssetTable,
): Chain {
  const known = chainNetwork(network, table);
  if (known === null) {
    throw wrong(
      network,
      "its nodes cannot be asked by this version; `rampkit assets --witness` lists those that can",
    );
  }
  if (!isRecord(settings)) throw wrong(network, "it is not a JSON object");
  onlyKnown(network, settings, SETTINGS);
  const nodes = readNodes(network, settings.nodes, known.family);
  const quorum = settings.quorum === undefined
    ? Math.floor(nodes.length / 2) + 1
    : integer(`${network}.quorum`, settings.quorum, 1);
  if (quorum > nodes.length) {
    throw wrong(
      `${network}.quorum`,
      `${quorum} nodes cannot agree where there are ${nodes.length}`,
    );
  }
  const chainId = known.family === "bitcoin"
    ? 0
    : settings.chainId ?? known.chainId;
  if (chainId === null) {
    throw wrong(`${network}.chainId`, "it is not built in; state it");
  }
  return {
    network: network.toLowerCase(),
    family: known.family,
    nodes,
    quorum,
    confirmations: integer(
      `${network}.confirmations`,
      settings.confirmations,
      1,
    ),
    chainId: integer(`${network}.chainId`, chainId, 0),
    genesis: known.family === "evm"
      ? ""
      : text(`${network}.genesis`, settings.genesis ?? BITCOIN_GENESIS),
    prefix: text(`${network}.prefix`, settings.prefix ?? "bc"),
    nativeDecimals: known.nativeDecimals,
    tokens: readTokens(network, settings.tokens ?? {}),
    tolerance: readTolerance(network, settings.tolerance ?? {}),
    blockMs: settings.blockMs === undefined
      ? known.blockMs
      : integer(`${network}.blockMs`, settings.blockMs, 1),
  };
}

function readNodes(
  network: string,
  nodes: unknown,
  family: "evm" | "bitcoin",
): readonly ChainNode[] {
  const at = `${network}.nodes`;
  if (!isRecord(nodes) || Object.keys(nodes).length === 0) {
    throw wrong(at, 'name at least one, for example { "own-1": "http://..." }');
  }
  return Object.entries(nodes).map(([name, node]) => {
    const here = `${at}.${name}`;
    if (!/^[A-Za-z0-9_.-]{1,40}$/.test(name)) {
      throw wrong(here, "a name has letters, digits, `-`, `_` and `.` only");
    }
    const settings = typeof node === "string" ? { url: node } : node;
    if (!isRecord(settings) || typeof settings.url !== "string") {
      throw wrong(here, "it is neither an address nor an object with `url`");
    }
    onlyKnown(here, settings, OF_NODES);
    const kind = settings.kind ?? (family === "evm" ? "evm" : "core");
    if (family === "bitcoin" && kind !== "core" && kind !== "esplora") {
      throw wrong(`${here}.kind`, 'use "core" or "esplora"');
    }
    return {
      name,
      address: readAddress(here, settings.url, settings.headers ?? {}),
      kind: kind as ChainNode["kind"],
    };
  });
}

function readAddress(
  at: string,
  address: string,
  headers: unknown,
): NodeAddress {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrong(at, "its address is not an absolute http or https URL");
  }
  if (
    !isRecord(headers) ||
    Object.values(headers).some((value) => typeof value !== "string")
  ) {
    throw wrong(`${at}.headers`, "it is not an object of texts");
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  return {
    url: url.href.replace(/\/+$/, ""),
    headers: {
      ...username === "" ? {} : {
        authorization: `Basic ${
          btoa(
            `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
          )
        }`,
      },
      ...headers as Record<string, string>,
    },
  };
}

function readTokens(
  network: string,
  tokens: unknown,
): ReadonlyMap<string, TokenSettings> {
  const at = `${network}.tokens`;
  if (!isRecord(tokens)) throw wrong(at, "it is not a JSON object");
  return new Map(
    Object.entries(tokens).map(([asset, token]) => {
      const here = `${at}.${asset}`;
      if (isNativeAsset(network, asset)) {
        throw wrong(here, "the chain itself moves it: it has no contract");
      }
      if (isRecord(token)) onlyKnown(here, token, OF_TOKENS);
      if (
        !isRecord(token) || typeof token.contract !== "string" ||
        !hasWalletShape("ethereum", token.contract)
      ) {
        throw wrong(
          `${here}.contract`,
          "it is not an address of a contract, 0x and 40 hex digits",
        );
      }
      return [asset.toUpperCase(), {
        contract: token.contract.toLowerCase(),
        decimals: integer(`${here}.decimals`, token.decimals, 0, 77),
      }];
    }),
  );
}

function readTolerance(
  network: string,
  tolerance: unknown,
): ReadonlyMap<string, string> {
  const at = `${network}.tolerance`;
  if (!isRecord(tolerance)) throw wrong(at, "it is not a JSON object");
  return new Map(
    Object.entries(tolerance).map(([asset, amount]) => {
      if (
        typeof amount !== "string" || !isDecimal(amount) ||
        amount.startsWith("-")
      ) {
        throw wrong(
          `${at}.${asset}`,
          'it is not a plain decimal in quotes, for example "0.0001"',
        );
      }
      return [asset.toUpperCase(), amount];
    }),
  );
}

/** A misspelt setting would otherwise count for nothing, and nobody notice. */
function onlyKnown(
  at: string,
  settings: Readonly<Record<string, unknown>>,
  known: readonly string[],
): void {
  const name = Object.keys(settings).find((name) => !known.includes(name));
  if (name === undefined) return;
  throw wrong(
    `${at}.${name}`,
    `there is no such setting; there are ${known.join(", ")}`,
  );
}

function integer(
  at: string,
  value: unknown,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (
    typeof value !== "number" || !Number.isSafeInteger(value) ||
    value < least || value > most
  ) {
    throw wrong(
      at,
      `it is ${
        JSON.stringify(value) ?? "missing"
      }; use a whole number from ${least}`,
    );
  }
  return value;
}

function text(at: string, value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw wrong(at, "it is not a text");
  }
  return value.toLowerCase();
}

function wrong(at: string, why: string): TypeError {
  return new TypeError(`Cannot use the file of nodes: ${at}: ${why}`);
}
