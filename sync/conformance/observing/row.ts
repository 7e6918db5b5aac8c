import type { Fact, NotSeenReason, Observation } from "./observation.ts";
import type { Reader } from "./reader.ts";

/** How one assumption is looked at, and judged. */
export interface ConformanceRow {
  /** Looks, and returns what it saw. */
  readonly look: (reader: Reader) => Promise<Observation>;
  /** Whether what was seen agrees with the assumption. Pure. */
  readonly agrees: (facts: Readonly<Record<string, Fact>>) => boolean;
}

/** A row whose facts have names and types of their own. */
export function row<Facts extends Readonly<Record<string, Fact>>>(
  look: (
    reader: Reader,
  ) => Promise<Facts | { readonly notSeen: NotSeenReason }>,
  agrees: (facts: Facts) => boolean,
): ConformanceRow {
  return {
    look: async (reader) => {
      const seen = await look(reader);
      return isNotSeen(seen) ? seen : { facts: seen };
    },
    agrees: agrees as ConformanceRow["agrees"],
  };
}

function isNotSeen(seen: object): seen is { readonly notSeen: NotSeenReason } {
  return "notSeen" in seen;
}
