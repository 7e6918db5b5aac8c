import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { unitsOf } from "../../../sandbox/testing/mod.ts";
import type { ChainsFile } from "../../../witness/mod.ts";
import {
  type Anvil,
  input,
  PAYING,
  startAnvil,
} from "../../../witness/testing/anvil.ts";
import type { DemoChain } from "../demo_chain.ts";

/** A network of the sandbox's assets that has an anvil here. */
interface Network {
  readonly chainId: number;
  /** Decimals of its tokens by their code; each gets a contract of its own. */
  readonly tokens: Readonly<Record<string, number>>;
}

const NETWORKS: Readonly<Record<string, Network>> = {
  sepolia: { chainId: 11_155_111, tokens: { TT: 18, cUSDC: 6 } },
  amoy: { chainId: 80_002, tokens: {} },
};

const NATIVE_DECIMALS = 18;
/** Blocks after which a payout is final. */
const CONFIRMATIONS = 3;
/** More than all orders together can cost, in smallest units. */
const RICH = `0x${(10n ** 30n).toString(16)}`;

/** A network with its node, and where its tokens are. */
interface Running extends Network {
  readonly anvil: Anvil;
  readonly contracts: Readonly<Record<string, string>>;
}

/**
 * Starts a node for each network that is looked at, with the tokens that are
 * sold there.
 */
export async function startAnvilChain(): Promise<
  DemoChain & AsyncDisposable
> {
  await using resources = new AsyncDisposableStack();
  const running = new Map<string, Running>();
  for (const [name, network] of Object.entries(NETWORKS)) {
    const anvil = resources.use(await startAnvil(network.chainId));
    await anvil.call("anvil_setBalance", [PAYING, RICH]);
    const contracts: Record<string, string> = {};
    for (const [code, decimals] of Object.entries(network.tokens)) {
      contracts[code] = await anvil.deployToken(decimals);
    }
    running.set(name, { ...network, anvil, contracts });
  }
  const kept = resources.move();
  return {
    nodes: nodesOf(running),
    payOut: (order) => pay(running, order, (units) => units),
    payShort: async (order) => {
      const txId = await pay(running, order, (units) => units * 9n / 10n);
      if (txId === null) throw new TypeError(`No chain of ${order.network}`);
      return txId;
    },
    settle: async () => {
      for (const { anvil } of running.values()) await anvil.mine(CONFIRMATIONS);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The file of nodes that a partner would write. */
function nodesOf(running: ReadonlyMap<string, Running>): ChainsFile {
  return Object.fromEntries(
    [...running].map(([name, { anvil, tokens, contracts, chainId }]) => [
      name,
      {
        nodes: { [`anvil-${name}`]: anvil.url },
        confirmations: CONFIRMATIONS,
        chainId,
        tokens: Object.fromEntries(
          Object.entries(contracts).map(([code, contract]) => [
            code,
            { contract, decimals: tokens[code] ?? NATIVE_DECIMALS },
          ]),
        ),
        // Without it an amount that is off is told, and holds nothing.
        tolerance: { ETH: "0", POL: "0", TT: "0", cUSDC: "0" },
      },
    ]),
  );
}

async function pay(
  running: ReadonlyMap<string, Running>,
  order: SandboxOrder,
  paid: (units: bigint) => bigint,
): Promise<string | null> {
  const network = running.get(order.network);
  if (network === undefined) return null;
  const { anvil, tokens, contracts } = network;
  const { commodity, cryptoAmount, address, scAddress, scInputData } = order;
  const decimals = tokens[commodity];
  const units = paid(unitsOf(cryptoAmount, decimals ?? NATIVE_DECIMALS));
  const contract = contracts[commodity];
  const value = decimals === undefined ? units : 0n;
  const { txId } = await anvil.settle(
    scAddress !== null
      ? { to: scAddress, value, data: scInputData ?? "0x" }
      : contract === undefined
      ? { to: address, value }
      : { to: contract, data: input("transfer", address, units) },
  );
  return txId;
}
