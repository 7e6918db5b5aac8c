/**
 * A real node of Bitcoin Core's family for tests: Debian's `litecoind`, on a
 * chain of its own (regtest), with a wallet whose coins can be spent.
 */
import {
  keepProcess,
  type KeptProcess,
} from "../../witness/testing/kept_process.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";
import { until } from "../kit/until.ts";

/** The beginning of SegWit addresses on its chain. */
export const PREFIX = "rltc";

const PROGRAM = "litecoind";
const USER = "alice";
const PASSWORD = "hunter2";

/** An output: whom it pays, by address or by script in hex. */
export type Output =
  & { readonly sat: number }
  & ({ readonly address: string } | { readonly script: string });

/** A block of the wallet's first coins, and some more to spend. */
const FIRST_BLOCKS = 120;

/** A running node. */
export class Litecoind implements AsyncDisposable {
  readonly #process: KeptProcess;
  readonly #resources: AsyncDisposableStack;

  /** Takes what was started. */
  constructor(process: KeptProcess, resources: AsyncDisposableStack) {
    this.#process = process;
    this.#resources = resources;
  }

  /** Its address with user and password. */
  get url(): string {
    return urlOf(this.#process.port, PASSWORD);
  }

  /** Its address with a password that it does not take. */
  get urlWithoutAccess(): string {
    return urlOf(this.#process.port, "wrong");
  }

  /** Where other nodes connect to it. */
  get peer(): string {
    return `127.0.0.1:${peerPort(this.#process.port)}`;
  }

  /** Calls a method; its result with numbers as JSON has them. */
  // deno-lint-ignore no-explicit-any
  call(method: string, ...params: readonly unknown[]): Promise<any> {
    return call(this.#process.port, method, params);
  }

  /** An address of its wallet. */
  async newAddress(type: "bech32" | "legacy" | "p2sh-segwit"): Promise<string> {
    return String(await this.call("getnewaddress", "", type));
  }

  /** Sends a transaction with these outputs, and then its change. */
  async pay(...outputs: readonly Output[]): Promise<string> {
    const bare = "02000000" + "00" + byte(outputs.length) +
      (await Promise.all(outputs.map((one) => this.#hexOf(one)))).join("") +
      "00000000";
    const { hex } = await this.call(
      "fundrawtransaction",
      bare,
      { changePosition: outputs.length, replaceable: true },
      // Without inputs its form cannot be told from one with witnesses.
      false,
    );
    const signed = await this.call("signrawtransactionwithwallet", hex);
    return String(await this.call("sendrawtransaction", signed.hex));
  }

  /** Sends it, and puts it into a block. */
  async settle(...outputs: readonly Output[]): Promise<string> {
    const txId = await this.pay(...outputs);
    await this.mine(1);
    return txId;
  }

  /** Makes blocks; the first takes all that waits. */
  async mine(blocks: number): Promise<void> {
    await this.call(
      "generatetoaddress",
      blocks,
      await this.newAddress("bech32"),
    );
  }

  /**
   * Takes the last blocks out of the chain, and puts empty ones in their place.
   *
   * @param depth How many are taken out.
   * @param options.instead How many take their place. @default {as many}
   * @param options.spendOtherwise A transaction of theirs whose coins are spent
   * by another one in the first of the new blocks, so that it never returns.
   */
  async reorganise(
    depth: number,
    { instead = depth, spendOtherwise }: {
      readonly instead?: number;
      readonly spendOtherwise?: string;
    } = {},
  ): Promise<void> {
    const height = Number(await this.call("getblockcount"));
    const hash = await this.call("getblockhash", height - depth + 1);
    await this.call("invalidateblock", hash);
    const address = await this.newAddress("bech32");
    for (let made = 0; made < instead; made++) {
      const held = made === 0 && spendOtherwise !== undefined
        ? [await this.#spendOtherwise(spendOtherwise)]
        : [];
      await this.call("generateblock", address, held);
    }
  }

  /** Another transaction, not sent, that spends what a transaction spends. */
  async #spendOtherwise(txId: string): Promise<string> {
    const { vin } = await this.call("getrawtransaction", txId, true);
    const inputs = (vin as readonly { txid: string; vout: number }[])
      .map(({ txid, vout }) => ({ txid, vout }));
    const own = await this.newAddress("bech32");
    const hex = await this.call("createrawtransaction", inputs, [{
      [own]: "0.001",
    }]);
    const signed = await this.call("signrawtransactionwithwallet", hex);
    return String(signed.hex);
  }

  /** Waits until it has the block that another one has at the end. */
  async follow(other: Litecoind): Promise<void> {
    const newest = await other.call("getbestblockhash");
    await until(async () => await this.call("getbestblockhash") === newest);
  }

  /** Waits until it knows a transaction that waits for a block. */
  async hearOf(txId: string): Promise<void> {
    await until(async () => (await this.call("getrawmempool")).includes(txId));
  }

  async #hexOf(output: Output): Promise<string> {
    const script = "script" in output
      ? output.script
      : (await this.call("validateaddress", output.address)).scriptPubKey;
    const value = output.sat.toString(16).padStart(16, "0").match(/../g) ?? [];
    return value.reverse().join("") + byte(script.length / 2) + script;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** How a node is started. */
export interface LitecoindOptions {
  /** Whether it can find every transaction by its id. @default {true} */
  readonly txIndex?: boolean;
  /** The node that it follows; without one it has a wallet with coins. */
  readonly following?: Litecoind;
}

/** Starts a node. */
export async function startLitecoind(
  { txIndex = true, following }: LitecoindOptions = {},
): Promise<Litecoind> {
  await requireProgram();
  await using resources = new AsyncDisposableStack();
  const { path } = resources.use(await temporaryFolder());
  const process = resources.use(
    await keepProcess({
      program: PROGRAM,
      args: (port) => [
        ...["-regtest", `-datadir=${path}`, "-server", "-printtoconsole=0"],
        ...[`-rpcport=${port}`, `-rpcuser=${USER}`, `-rpcpassword=${PASSWORD}`],
        ...[`-txindex=${txIndex ? 1 : 0}`, "-fallbackfee=0.001"],
        // As Bitcoin Core does by itself.
        "-mempoolreplacement=1",
        // It talks to nobody but the other node of the test.
        ...["-dnsseed=0", "-discover=0", "-listenonion=0", "-upnp=0"],
        ...following === undefined
          ? [
            ...[`-bind=127.0.0.1:${peerPort(port)}`, "-connect=0", "-listen=1"],
            // Otherwise it tells what waits some seconds later.
            "-whitelist=noban@127.0.0.1",
          ]
          : [`-connect=${following.peer}`, "-listen=0"],
      ],
      answers: async (url) =>
        await call(Number(new URL(url).port), "getblockcount", []) >= 0,
    }),
  );
  const node = new Litecoind(process, resources.move());
  if (following !== undefined) return node;
  await node.call("createwallet", "till");
  await node.mine(FIRST_BLOCKS);
  return node;
}

async function requireProgram(): Promise<void> {
  try {
    await new Deno.Command(PROGRAM, { args: ["-version"] }).output();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(
      `There is no ${PROGRAM}; install it: apt-get install ${PROGRAM}`,
    );
  }
}

/** Beyond the ports that are picked for its RPC. */
function peerPort(port: number): number {
  return port + 20_000;
}

function urlOf(port: number, password: string): string {
  return `http://${USER}:${password}@127.0.0.1:${port}`;
}

async function call(
  port: number,
  method: string,
  params: readonly unknown[],
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const response = await fetch(`http://127.0.0.1:${port}`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${USER}:${PASSWORD}`)}` },
    body: JSON.stringify({ id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error !== null) throw new RpcFailure(method, error);
  return result;
}

/** What the node refused. */
export class RpcFailure extends Error {
  /** The node's code. */
  readonly code: number;

  /** Takes what the node said. */
  constructor(
    method: string,
    { code, message }: { readonly code: number; readonly message: string },
  ) {
    super(`${method}: ${message}`);
    this.code = code;
  }
}

function byte(number: number): string {
  return number.toString(16).padStart(2, "0");
}
