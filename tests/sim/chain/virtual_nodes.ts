import type { VirtualChain, VirtualTransfer } from "./virtual_chain.ts";

/** How a node is at a time. */
export type Mood = "honest" | "silent" | "lies";

/** Names of the nodes. */
export const NODES = ["node-1", "node-2", "node-3"] as const;

/** What a node says that lies, of a transaction as a service states it. */
export type Stated = (txId: string) => VirtualTransfer | null;

/** The partner's nodes of one chain, as requests reach them. */
export class VirtualNodes {
  readonly #chain: VirtualChain;
  readonly #stated: Stated;
  readonly #count: (fault: string) => void;
  /** How each of them is now; those left out are honest. */
  moods: ReadonlyMap<string, Mood> = new Map();

  /**
   * @param chain What honest ones say.
   * @param stated What the service states of each transaction.
   * @param count Called with each fault.
   */
  constructor(
    chain: VirtualChain,
    stated: Stated,
    count: (fault: string) => void,
  ) {
    this.#chain = chain;
    this.#stated = stated;
    this.#count = count;
  }

  /** Addresses of the nodes by name, as a partner's file has them. */
  get addresses(): Readonly<Record<string, string>> {
    return Object.fromEntries(NODES.map((name) => [name, `http://${name}`]));
  }

  /** Answers requests. */
  get fetch(): typeof fetch {
    return async (url, init) => {
      await Promise.resolve();
      const { method, params } = JSON.parse(String(init?.body));
      const mood = this.moods.get(new URL(String(url)).hostname) ?? "honest";
      if (mood === "silent") {
        this.#count("node silent");
        throw new TypeError("Simulated: connection refused");
      }
      const result = mood === "lies"
        ? this.#lie(method, params)
        : this.#chain.answer(method, params);
      return Response.json({ jsonrpc: "2.0", id: 1, result });
    };
  }

  /**
   * One that lies says that nothing came of what has arrived, and that all
   * else has arrived long ago.
   */
  #lie(method: string, params: readonly unknown[]): unknown {
    const txId = String(params[0]);
    const isReceipt = method === "eth_getTransactionReceipt";
    if (!isReceipt && method !== "eth_getTransactionByHash") {
      return this.#chain.answer(method, params);
    }
    this.#count("node lies");
    const stated = this.#stated(txId);
    const placed = this.#chain.find(txId);
    if (stated === null || isAsStated(placed?.transfer, stated)) return null;
    const lie = { transfer: stated, height: 0, depth: this.#chain.height + 1 };
    return isReceipt
      ? this.#chain.receipt(lie)
      : this.#chain.transaction(txId, lie);
  }
}

/** Whether a transfer does what the service states. */
export function isAsStated(
  transfer: VirtualTransfer | undefined,
  stated: VirtualTransfer,
): boolean {
  return transfer !== undefined && !transfer.reverts &&
    transfer.to.toLowerCase() === stated.to.toLowerCase() &&
    transfer.units === stated.units;
}
