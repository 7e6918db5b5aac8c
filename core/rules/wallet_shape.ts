/** Networks that share one form of address. */
export type WalletFamily = "evm" | "bitcoin" | "solana" | "tezos";

const evmNetworks: ReadonlySet<string> = new Set(
  ("amoy arbitrum arbitrum_sepolia avalanche base base_sepolia bsc ethereum " +
    "etherlink hemi kucoin opbnb polygon puppynet rootstock sepolia shibarium")
    .split(" "),
);

const base58 = "[1-9A-HJ-NP-Za-km-z]";
const shapes: Readonly<Record<WalletFamily, RegExp>> = {
  evm: /^0x[0-9a-fA-F]{40}$/,
  bitcoin: new RegExp(
    `^([13]${base58}{25,34}|(bc1|BC1)[0-9A-Za-z]{11,87})$`,
  ),
  solana: new RegExp(`^${base58}{32,44}$`),
  tezos: new RegExp(`^(tz[1-4]|KT1)${base58}{33}$`),
};

/** The form of address of a network, in any case; null when it is not known. */
export function walletFamily(network: string): WalletFamily | null {
  const name = network.toLowerCase();
  if (evmNetworks.has(name)) return "evm";
  if (name === "bitcoin" || name === "solana") return name;
  return name === "tezos" || name === "ghostnet" ? "tezos" : null;
}

/**
 * Whether an address has the outer form of its network's addresses. It leaves
 * checksums out, so that a page need not load the code for them. A network
 * whose form is not known takes any address.
 */
export function hasWalletShape(network: string, address: string): boolean {
  const family = walletFamily(network);
  return family === null || shapes[family].test(address);
}
