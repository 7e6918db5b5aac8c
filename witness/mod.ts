/**
 * The chain as a witness: asks the partner's own nodes what a transaction did,
 * and says whether it is what the service's order says. It knows no public
 * node. EVM chains and Bitcoin.
 *
 * @example Ask a node
 * ```ts ignore
 * import { createChainWitness, readChains } from "@rampkit/onramp/witness";
 *
 * const witness = createChainWitness({
 *   chains: readChains({
 *     bitcoin: {
 *       nodes: { own: "http://user:password@127.0.0.1:8332" },
 *       confirmations: 3,
 *     },
 *   }),
 * });
 * const { verdict, confirmations } = await witness.look({
 *   network: "bitcoin",
 *   asset: "BTC",
 *   txId: "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
 *   address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
 *   amount: "0.0042",
 * });
 * console.log(verdict, confirmations);
 * ```
 *
 * @module
 */
export * from "./chain_witness.ts";
export * from "./chains_file.ts";
export {
  lookAtOrder,
  type LookAtOrderOptions,
  type NothingToLookAt,
  type OrderLook,
} from "./look_at_order.ts";
export { createWatcher, type Watcher, type WatcherOptions } from "./watcher.ts";
export type { NodeAddress } from "./http_node.ts";
export * from "./transfer.ts";
export type { AssetTable } from "../core/assets/environment.ts";
export {
  type Verdict,
  type VerdictReason,
  VERDICTS,
} from "../core/chain/verdict.ts";
