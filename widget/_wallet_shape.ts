const evm = /^0x[0-9a-fA-F]{40}$/;
const base58 = "[1-9A-HJ-NP-Za-km-z]";
const solana = new RegExp(`^${base58}{32,44}$`);
const tezos = new RegExp(`^(tz[1-4]|KT1)${base58}{33}$`);
const bitcoin = new RegExp(
  `^([13]${base58}{25,34}|(bc1|BC1)[0-9A-Za-z]{11,87})$`,
);

const shapes: Readonly<Record<string, RegExp>> = {
  bitcoin,
  solana,
  tezos,
  ghostnet: tezos,
};

const evmNetworks = new Set([
  ...["amoy", "arbitrum", "arbitrum_sepolia", "avalanche", "base"],
  ...["base_sepolia", "bsc", "ethereum", "etherlink", "hemi", "kucoin"],
  ...["opbnb", "polygon", "puppynet", "rootstock", "sepolia", "shibarium"],
]);

/**
 * Whether an address has the outer form of its network's addresses. Checksums
 * are the service's to check; a network we do not know takes any address.
 */
export function hasWalletShape(network: string, address: string): boolean {
  const shape = evmNetworks.has(network) ? evm : shapes[network];
  return shape === undefined || shape.test(address);
}
