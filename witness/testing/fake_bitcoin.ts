/**
 * Answers as a node of Bitcoin Core and as an Esplora server do, from one small
 * chain in memory.
 */

/** An output of a transaction. */
export interface FakeOutput {
  /** Whom it pays. */
  readonly address: string;
  /** How much, in satoshi. */
  readonly sat: number;
}

interface FakeTransaction {
  readonly outputs: readonly FakeOutput[];
  blockHash: string | null;
}

/** How its answers look. */
export interface FakeOptions {
  /** Old Core names `addresses`. @default {false} */
  readonly oldAddresses?: boolean;
  /** Without an index Core finds only what waits. @default {true} */
  readonly txIndex?: boolean | "building";
}

/** Hash of its first block. */
export const FAKE_GENESIS: string = "00".repeat(31) + "aa";

/** A small chain. */
export class FakeBitcoin {
  readonly #blocks: string[] = [FAKE_GENESIS];
  readonly #heights = new Map([[FAKE_GENESIS, 0]]);
  readonly #transactions = new Map<string, FakeTransaction>();
  #made = 0;
  /** Time of its newest block, seconds since 1970. */
  tipTime: number;

  /** Begins with one block. */
  constructor(tipTime: number) {
    this.tipTime = tipTime;
  }

  /** Adds a transaction that waits for a block. */
  add(...outputs: readonly FakeOutput[]): string {
    const txId = (++this.#made).toString(16).padStart(64, "f");
    this.#transactions.set(txId, { outputs, blockHash: null });
    return txId;
  }

  /** Adds blocks; the first takes all that waits. */
  mine(blocks: number): void {
    for (let n = 0; n < blocks; n++) {
      const hash = (++this.#made).toString(16).padStart(64, "0");
      this.#heights.set(hash, this.#blocks.length);
      this.#blocks.push(hash);
      for (const one of this.#transactions.values()) one.blockHash ??= hash;
    }
  }

  /** Takes the last blocks away, and forgets what was in them. */
  drop(blocks: number): void {
    const gone = new Set(this.#blocks.splice(-blocks));
    for (const [txId, { blockHash }] of this.#transactions) {
      if (gone.has(blockHash ?? "")) this.#transactions.delete(txId);
    }
  }

  /** Core's JSON-RPC. */
  core(
    { oldAddresses = false, txIndex = true }: FakeOptions = {},
  ): typeof fetch {
    return async (_url, init) => {
      const { method, params } = JSON.parse(String(init?.body));
      await Promise.resolve();
      const found = this.#core(
        method,
        params,
        oldAddresses,
        txIndex === true,
      );
      return found === undefined
        ? Response.json({
          result: null,
          error: {
            code: -5,
            message: txIndex === "building"
              ? "No such mempool transaction. Blockchain transactions are still in the process of being indexed."
              : txIndex
              ? "No such mempool or blockchain transaction."
              : "No such mempool transaction. Use -txindex or provide a block hash.",
          },
        }, { status: 500 })
        : new Response(`{"result":${JSON.stringify(found)},"error":null}`);
    };
  }

  /** Esplora's HTTP. */
  esplora(): typeof fetch {
    return async (url) => {
      const path = new URL(String(url)).pathname;
      await Promise.resolve();
      const [, kind = "", name = ""] = path.split("/");
      if (path === "/blocks/tip/hash") return new Response(this.#tip);
      if (kind === "block-height") {
        const hash = this.#blocks[Number(name)];
        return hash === undefined
          ? new Response("Block not found", { status: 404 })
          : new Response(hash);
      }
      if (kind === "block") {
        return Response.json({
          height: this.#heights.get(name),
          timestamp: this.tipTime,
        });
      }
      const found = this.#transactions.get(name);
      if (found === undefined) {
        return new Response("Transaction not found", { status: 404 });
      }
      const { outputs, blockHash } = found;
      return Response.json({
        vout: outputs.map(({ address, sat }) => ({
          scriptpubkey_address: address,
          value: sat,
        })),
        status: blockHash === null ? { confirmed: false } : {
          confirmed: true,
          block_hash: blockHash,
          block_height: this.#heights.get(blockHash),
        },
      });
    };
  }

  get #tip(): string {
    return this.#blocks.at(-1) ?? FAKE_GENESIS;
  }

  #core(
    method: string,
    [first]: readonly (string | number)[],
    oldAddresses: boolean,
    txIndex: boolean,
  ): unknown {
    switch (method) {
      case "getblockhash":
        return this.#blocks[Number(first)];
      case "getbestblockhash":
        return this.#tip;
      case "getblockheader": {
        const height = this.#heights.get(String(first)) ?? -1;
        const stands = this.#blocks[height] === first;
        return {
          height,
          time: this.tipTime,
          confirmations: stands ? this.#blocks.length - height : -1,
        };
      }
      default: {
        const found = this.#transactions.get(String(first));
        if (found === undefined) return undefined;
        const { outputs, blockHash } = found;
        if (!txIndex && blockHash !== null) return undefined;
        return {
          ...(blockHash === null ? {} : { blockhash: blockHash }),
          vout: outputs.map(({ address, sat }, n) => ({
            n,
            // Exactly as Core writes it.
            value: Number(`${sat}e-8`),
            scriptPubKey: oldAddresses ? { addresses: [address] } : { address },
          })),
        };
      }
    }
  }
}
