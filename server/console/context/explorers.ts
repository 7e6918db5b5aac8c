import { readFile } from "node:fs/promises";
import { messageOf } from "../../../core/guards.ts";
import { UsageError } from "../../../core/settings/errors.ts";

/** Where a transaction of a network can be looked at; `{tx}` stands for it. */
export type Explorers = Readonly<Record<string, string>>;

/**
 * Public explorers by the service's names of networks. `--explorers FILE`
 * replaces and adds entries.
 */
export const EXPLORERS: Explorers = {
  amoy: "https://amoy.polygonscan.com/tx/{tx}",
  arbitrum: "https://arbiscan.io/tx/{tx}",
  arbitrum_sepolia: "https://sepolia.arbiscan.io/tx/{tx}",
  avalanche: "https://snowtrace.io/tx/{tx}",
  base: "https://basescan.org/tx/{tx}",
  base_sepolia: "https://sepolia.basescan.org/tx/{tx}",
  bitcoin: "https://mempool.space/tx/{tx}",
  bsc: "https://bscscan.com/tx/{tx}",
  concordium: "https://ccdexplorer.io/mainnet/transaction/{tx}",
  ethereum: "https://etherscan.io/tx/{tx}",
  etherlink: "https://explorer.etherlink.com/tx/{tx}",
  ghostnet: "https://ghostnet.tzkt.io/{tx}",
  hemi: "https://explorer.hemi.xyz/tx/{tx}",
  near: "https://nearblocks.io/txns/{tx}",
  opbnb: "https://opbnbscan.com/tx/{tx}",
  polygon: "https://polygonscan.com/tx/{tx}",
  puppynet: "https://puppyscan.shib.io/tx/{tx}",
  rootstock: "https://explorer.rootstock.io/tx/{tx}",
  sepolia: "https://sepolia.etherscan.io/tx/{tx}",
  shibarium: "https://www.shibariumscan.io/tx/{tx}",
  solana: "https://solscan.io/tx/{tx}",
  stacks: "https://explorer.hiro.so/txid/{tx}",
  tezos: "https://tzkt.io/{tx}",
  theta: "https://explorer.thetatoken.org/txs/{tx}",
  ton: "https://tonviewer.com/transaction/{tx}",
};

/** The address at which a transaction can be looked at. */
export function explorerUrl(
  explorers: Explorers,
  network: string | null,
  txId: string | null,
): string | null {
  if (network === null || txId === null || txId === "") return null;
  const name = network.toLowerCase();
  if (!Object.hasOwn(explorers, name)) return null;
  // These two are steps through the explorer's own pages.
  if (txId === "." || txId === "..") return null;
  return explorers[name]?.replace("{tx}", () => encodeURIComponent(txId)) ??
    null;
}

/**
 * Reads a file of explorers over those that are built in: a JSON object of
 * networks, each with an address that holds `{tx}`.
 *
 * @throws {UsageError} When it cannot be read, or an address is none.
 */
export async function readExplorers(
  path: string | undefined,
): Promise<Explorers> {
  if (path === undefined) return EXPLORERS;
  const wrong = (why: string) => new UsageError(`Wrong --explorers: ${why}`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw wrong(`${path} cannot be read as JSON: ${messageOf(error)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(`${path} holds no JSON object of networks and addresses`);
  }
  const own: Record<string, string> = {};
  for (const [network, address] of Object.entries(value)) {
    const url = typeof address === "string" ? URL.parse(address) : null;
    if (
      url === null || !/^https?:$/.test(url.protocol) ||
      !String(address).includes("{tx}")
    ) {
      throw wrong(
        `${path}: the address of ${JSON.stringify(network)} is ` +
          `${JSON.stringify(address)}; write one like ` +
          '"https://explorer.example/tx/{tx}"',
      );
    }
    own[network.toLowerCase()] = String(address);
  }
  return { ...EXPLORERS, ...own };
}
