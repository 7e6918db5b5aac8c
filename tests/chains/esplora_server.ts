import { type Litecoind, RpcFailure } from "./litecoind.ts";

/** An output as Core's RPC shows it. */
interface CoreOutput {
  readonly value: number;
  readonly scriptPubKey: {
    readonly hex: string;
    readonly asm: string;
    readonly type: string;
    readonly addresses?: readonly string[];
  };
}

/** A server on loopback. */
export interface EsploraServer extends AsyncDisposable {
  /** Its address. */
  readonly url: string;
}

const TEXT = { "content-type": "text/plain" };

/**
 * Answers over HTTP as an Esplora server does, with what a node has: the forms
 * are those of Esplora's own description, fields that nobody reads included. It
 * knows the chain as it stands and what waits, and no block that was taken out.
 *
 * @param node The node that it reads.
 */
export function serveEsplora(node: Litecoind): EsploraServer {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const path = new URL(request.url).pathname;
      try {
        return await answer(node, path) ??
          new Response("Not found", { status: 404, headers: TEXT });
      } catch (error) {
        if (!(error instanceof RpcFailure)) throw error;
        return new Response(error.message, { status: 400, headers: TEXT });
      }
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/api`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function answer(
  node: Litecoind,
  path: string,
): Promise<Response | null> {
  const [, api, kind = "", name = "", part] = path.split("/");
  if (api !== "api") return null;
  if (kind === "blocks" && name === "tip" && part === "hash") {
    return new Response(await node.call("getbestblockhash"), { headers: TEXT });
  }
  if (kind === "block-height") {
    const hash = await found(node.call("getblockhash", Number(name)));
    return hash === null ? null : new Response(hash, { headers: TEXT });
  }
  if (kind === "block") {
    const block = await found(node.call("getblock", name));
    return block === null ? null : Response.json({
      id: block.hash,
      height: block.height,
      version: block.version,
      timestamp: block.time,
      tx_count: block.nTx,
      size: block.size,
      weight: block.weight,
      merkle_root: block.merkleroot,
      previousblockhash: block.previousblockhash ?? null,
      mediantime: block.mediantime,
      nonce: block.nonce,
      bits: Number.parseInt(block.bits, 16),
      difficulty: block.difficulty,
    });
  }
  return kind === "tx" ? await transaction(node, name) : null;
}

async function transaction(
  node: Litecoind,
  txId: string,
): Promise<Response | null> {
  const shown = await found(node.call("getrawtransaction", txId, true));
  if (shown === null) return null;
  const block = shown.blockhash === undefined
    ? null
    : await node.call("getblockheader", shown.blockhash);
  // It waits, is in the chain, or is in a block that was taken out.
  if (block !== null && block.confirmations < 1) return null;
  return Response.json({
    txid: shown.txid,
    version: shown.version,
    locktime: shown.locktime,
    vin: [],
    vout: (shown.vout as readonly CoreOutput[]).map((
      { value, scriptPubKey: { hex, asm, type, addresses = [] } },
    ) => ({
      scriptpubkey: hex,
      scriptpubkey_asm: asm,
      scriptpubkey_type: type,
      ...(addresses.length === 1 ? { scriptpubkey_address: addresses[0] } : {}),
      value: Math.round(value * 1e8),
    })),
    size: shown.size,
    weight: shown.weight,
    fee: 0,
    status: block === null ? { confirmed: false } : {
      confirmed: true,
      block_height: block.height,
      block_hash: shown.blockhash,
      block_time: block.time,
    },
  });
}

/** Null where the node knows nothing of it. */
// deno-lint-ignore no-explicit-any
async function found(asked: Promise<any>): Promise<any> {
  try {
    return await asked;
  } catch (error) {
    // Not found, or a height beyond the end.
    if (error instanceof RpcFailure && [-5, -8].includes(error.code)) {
      return null;
    }
    throw error;
  }
}
