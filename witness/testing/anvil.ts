/**
 * A real node of an EVM chain for tests: anvil, from its npm package. It starts
 * in a fraction of a second, makes a block for each transaction, and
 * reorganises when it is told to.
 */
import { fileURLToPath } from "node:url";
// Importing it is what downloads the package that holds the executable.
import anvilPackage from "@foundry-rs/anvil-linux-amd64/package.json" with {
  type: "json",
};
import { PAYER_CODE, SELECTORS, SHOP_CODE, TOKEN_CODE } from "./contracts.ts";
import { keepProcess, type KeptProcess } from "./kept_process.ts";

/** Whether it can run on this machine. */
export const anvilAvailable: boolean = Deno.build.os === "linux" &&
  Deno.build.arch === "x86_64";

/** An account that anvil has the key of, and that is rich. */
export const PAYING = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";

/** A transaction in its block, or waiting for one. */
export interface Sent {
  /** Its hash. */
  readonly txId: string;
}

/** How a transaction is sent. */
export interface SendOptions {
  /** Whom it calls; left out to make a contract. */
  readonly to?: string;
  /** How much goes along, in smallest units. @default {0n} */
  readonly value?: bigint;
  /** Input in hex. @default {"0x"} */
  readonly data?: string;
}

/** A running anvil. */
export class Anvil implements AsyncDisposable {
  readonly #process: KeptProcess;

  /** Takes what was started. */
  constructor(process: KeptProcess) {
    this.#process = process;
  }

  /** Its address. */
  get url(): string {
    return this.#process.url;
  }

  /** Calls a method by JSON-RPC. */
  call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return call(this.url, method, params);
  }

  /** Sends a transaction from {@linkcode PAYING}. */
  async send({ to, value = 0n, data = "0x" }: SendOptions): Promise<Sent> {
    const txId = await this.call("eth_sendTransaction", [{
      from: PAYING,
      ...(to === undefined ? {} : { to }),
      value: `0x${value.toString(16)}`,
      data,
      // An estimate would refuse what is to fail.
      gas: "0x4c4b40",
    }]);
    return { txId: String(txId) };
  }

  /** Makes a contract, and gives its address. */
  async deploy(code: string): Promise<string> {
    const { contractAddress } = await this.receipt(
      await this.send({ data: `0x${code}` }),
    );
    return String(contractAddress);
  }

  /** Sends a transaction, and waits until it is in a block. */
  async settle(options: SendOptions): Promise<Sent> {
    const sent = await this.send(options);
    await this.receipt(sent);
    return sent;
  }

  /** The receipt, once it is in a block: that is made after the answer. */
  async receipt({ txId }: Sent): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const receipt = await this.call("eth_getTransactionReceipt", [txId]);
      // For a moment it is in a block and waits for one as well.
      const sent = await this.call("eth_getTransactionByHash", [txId]);
      if (receipt !== null && (sent as { blockHash: unknown }).blockHash) {
        return receipt as Record<string, unknown>;
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Makes a token that keeps some thousandths of each transfer. */
  deployToken(decimals: number, fee: number = 0): Promise<string> {
    return this.deploy(TOKEN_CODE + words(decimals, fee));
  }

  /** Makes a contract that pays others. */
  deployPayer(): Promise<string> {
    return this.deploy(PAYER_CODE);
  }

  /** Makes a contract that sells. */
  deployShop(): Promise<string> {
    return this.deploy(SHOP_CODE);
  }

  /** Makes so many empty blocks. */
  async mine(blocks: number): Promise<void> {
    await this.call("anvil_mine", [`0x${blocks.toString(16)}`]);
  }

  /** Replaces the last blocks by empty ones, and forgets what was in them. */
  async reorganise(depth: number): Promise<void> {
    await this.call("anvil_reorg", [depth, []]);
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

/** Starts one with a chain id of its own. */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const program = fileURLToPath(
    new URL(
      "bin/anvil",
      import.meta.resolve(`${anvilPackage.name}/package.json`),
    ),
  );
  return new Anvil(
    await keepProcess({
      program,
      args: (port) => [
        ...["--port", String(port), "--chain-id", String(chainId)],
        ...["--silent", "--no-cors", "--accounts", "1"],
      ],
      answers: async (url) => await call(url, "eth_chainId", []) !== undefined,
    }),
  );
}

async function call(
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Input of a call: a function of the contracts, and its arguments. */
export function input(
  name: keyof typeof SELECTORS,
  ...args: readonly (string | number | bigint | readonly (string | bigint)[])[]
): string {
  let tail = "";
  const head = args.map((arg) => {
    if (!Array.isArray(arg)) return words(arg as string | number | bigint);
    const offset = args.length * 32 + tail.length / 2;
    tail += words(arg.length, ...arg);
    return words(offset);
  });
  return SELECTORS[name] + head.join("") + tail;
}

/** The same for `forward`, whose second argument is bytes. */
export function forwardInput(target: string, data: string): string {
  const bytes = data.slice(2);
  return SELECTORS.forward + words(target, 64, bytes.length / 2) +
    bytes.padEnd(Math.ceil(bytes.length / 64) * 64, "0");
}

function words(...values: readonly (string | number | bigint)[]): string {
  return values.map((value) => BigInt(value).toString(16).padStart(64, "0"))
    .join("");
}
