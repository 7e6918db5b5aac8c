import type { ChainPair } from "../../core/chain/chain_network.ts";
import type { LedgerTypes } from "../../ledger/mod.ts";
import { VERDICT_REASON } from "../wording/witness.ts";
import { drawTable } from "./table.ts";
import { counted } from "./text.ts";

/** An asset on a network, and how its transactions can be looked at. */
export interface AssetJson extends ChainPair {
  /**
   * Why the nodes that are configured here are not asked; null where they are.
   */
  readonly notAsked: LedgerTypes.VerdictReason | null;
}

/** The asset table, as the service documents it. */
export function assetLines(
  pairs: readonly ChainPair[],
  columns: number | null,
): readonly string[] {
  return [
    drawTable(
      [
        { title: "Asset", whole: true },
        { title: "Network", whole: true },
        { title: "Decimals", align: "right", whole: true },
        { title: "Smart contracts", whole: true },
      ],
      pairs.map(({ commodity, network, decimals, smartContracts }) => [
        commodity,
        network,
        String(decimals),
        smartContracts === null ? "?" : smartContracts ? "yes" : "no",
      ]),
      columns,
    ),
  ];
}

/** The asset table, with how each pair can be looked at. */
export function witnessLines(
  pairs: readonly AssetJson[],
  isConfigured: boolean,
  columns: number | null,
): readonly string[] {
  const can = pairs.filter(({ witness }) => witness !== "unsupported");
  const here = pairs.filter(({ notAsked }) => notAsked === null);
  return [
    drawTable(
      [
        { title: "Asset", whole: true },
        { title: "Network", whole: true },
        ...isConfigured ? [{ title: "Looked at here" }] : [],
        { title: "What it takes, or why not" },
      ],
      pairs.map((pair) => [
        pair.commodity,
        pair.network,
        ...isConfigured ? [hereOf(pair)] : [],
        needsOf(pair),
      ]),
      columns,
    ),
    "",
    `${can.length} of ${counted(pairs.length, "pair")} can be looked at` +
    (isConfigured ? `; your nodes are asked about ${here.length}.` : "."),
  ];
}

function hereOf({ notAsked }: AssetJson): string {
  return notAsked === null ? "yes" : `no: ${VERDICT_REASON[notAsked]}`;
}

/** What looking up a pair requires, or why it is not possible. */
function needsOf({ witness, family, chainId }: ChainPair): string {
  if (family === null) return VERDICT_REASON.network_not_supported;
  if (family === "bitcoin") return "a node with txindex=1, or Esplora";
  const node = chainId === null
    ? "a node, and the chainId, which is not built in"
    : `a node of chain ${chainId}`;
  return witness === "native"
    ? node
    : `${node}, and the token's contract in tokens`;
}
