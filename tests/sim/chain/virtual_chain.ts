/** What a transaction is to do. */
export interface VirtualTransfer {
  /** Its hash. */
  readonly txId: string;
  /** Whom it pays. */
  readonly to: string;
  /** How much, in smallest units. */
  readonly units: bigint;
  /** Whether it is undone. */
  readonly reverts: boolean;
}

interface Block {
  readonly hash: string;
  readonly timestamp: number;
  readonly transfers: readonly VirtualTransfer[];
}

/** Where a transfer is. */
export interface Placed {
  /** The transfer. */
  readonly transfer: VirtualTransfer;
  /** Height of its block. */
  readonly height: number;
  /** Blocks from its own to the newest, both counted. */
  readonly depth: number;
}

/** EIP-155 id of the chain. */
export const CHAIN_ID = 11_155_111;

/** A chain of Ethereum's kin, in memory and on the clock of the simulation. */
export class VirtualChain {
  readonly #now: () => number;
  readonly #blocks: Block[] = [];
  readonly #waiting = new Map<string, VirtualTransfer>();
  #made = 0;

  /** @param now Clock, ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
    this.mine(1);
  }

  /** Height of the newest block. */
  get height(): number {
    return this.#blocks.length - 1;
  }

  /** Sends a transfer: it waits for a block. */
  send(transfer: VirtualTransfer): void {
    this.#waiting.set(transfer.txId, transfer);
  }

  /** Makes blocks; the first of them takes all that waits. */
  mine(blocks: number): void {
    for (let more = blocks; more > 0; more--) {
      this.#blocks.push({
        hash: `0x${(++this.#made).toString(16).padStart(64, "0")}`,
        timestamp: Math.floor(this.#now() / 1000),
        transfers: [...this.#waiting.values()],
      });
      this.#waiting.clear();
    }
  }

  /**
   * Puts empty blocks in the place of the last ones; what was in those is
   * forgotten, and has to be sent again.
   */
  reorganise(depth: number): void {
    this.#blocks.splice(-depth);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.mine(depth);
    for (const one of waiting) this.send(one);
  }

  /** Where a transfer is in the chain; null in no block of it. */
  find(txId: string): Placed | null {
    for (const [height, { transfers }] of this.#blocks.entries()) {
      const transfer = transfers.find((one) => one.txId === txId);
      if (transfer === undefined) continue;
      return { transfer, height, depth: this.height - height + 1 };
    }
    return null;
  }

  /** What an honest node answers. */
  answer(method: string, [first]: readonly unknown[]): unknown {
    switch (method) {
      case "eth_chainId":
        return hex(CHAIN_ID);
      case "eth_getCode":
        return "0x";
      case "eth_getBlockByNumber":
        return this.#block(first === "latest" ? this.height : Number(first));
      case "eth_getTransactionReceipt":
        return this.receipt(this.find(String(first)));
      case "eth_getTransactionByHash":
        return this.transaction(String(first), this.find(String(first)));
      default:
        throw new TypeError(`The chain has no ${method}`);
    }
  }

  /** Receipt of what is in a block. */
  receipt(placed: Placed | null): unknown {
    return placed === null ? null : {
      status: placed.transfer.reverts ? "0x0" : "0x1",
      blockHash: this.#blocks[placed.height]?.hash,
      blockNumber: hex(placed.height),
      logs: [],
    };
  }

  /** A transaction, in a block or waiting. */
  transaction(txId: string, placed: Placed | null): unknown {
    const transfer = placed?.transfer ?? this.#waiting.get(txId);
    return transfer === undefined ? null : {
      to: transfer.to,
      value: hex(transfer.units),
      input: "0x",
      ...(placed === null ? { blockHash: null, blockNumber: null } : {
        blockHash: this.#blocks[placed.height]?.hash,
        blockNumber: hex(placed.height),
      }),
    };
  }

  #block(height: number): unknown {
    const block = this.#blocks[height];
    return block === undefined ? null : {
      hash: block.hash,
      number: hex(height),
      timestamp: hex(block.timestamp),
    };
  }
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
