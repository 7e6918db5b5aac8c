import type { ExplainedMove } from "../../ledger/for_resources.ts";

/** The move that an event made on the machine of an order, in one line. */
export function describeMove(
  { from, to, decision, reading }: ExplainedMove,
): string {
  const after = decision === "initial"
    ? "no status that counts"
    : `${to.status} (${to.trust})`;
  const steps = from === null
    ? `begins as ${after}`
    : from.status === to.status && from.trust === to.trust
    ? `stays ${after}`
    : `${from.status} (${from.trust}) -> ${after}`;
  if (reading === null || reading.anomaly === null) return steps;
  return `${steps}; the service went from ${reading.from} to ${reading.to}, ` +
    `${kinds[reading.kind]} (${reading.anomaly})`;
}

const kinds: Readonly<
  Record<NonNullable<ExplainedMove["reading"]>["kind"], string>
> = {
  same: "which is no move",
  usual: "which is usual",
  unusual: "which is unusual",
  impossible: "which cannot be by its own description",
};
