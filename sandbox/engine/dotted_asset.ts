import type { SandboxOrder } from "./sandbox_order.ts";

/** The asset of an order in dotted form, lower case. */
export function dottedAsset(
  { commodity, cryptoType, network }: Pick<
    SandboxOrder,
    "commodity" | "cryptoType" | "network"
  >,
): string {
  return `${commodity}.${cryptoType}.${network}`.toLowerCase();
}
