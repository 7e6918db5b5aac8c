import { type ChainReading, isLaterLook } from "../events/chain_reading.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "./compare.ts";

/**
 * Adds a look to those that an order keeps: the latest final one and the latest
 * one, each once, earlier first. The same set in any order gives the same list.
 *
 * @param kept Those kept so far.
 * @param added A look.
 */
export function addChainReading(
  kept: readonly ChainReading[],
  added: ChainReading,
): readonly ChainReading[] {
  const all = [...kept, added];
  const final = latest(all.filter((one) => one.final));
  const last = latest(all);
  if (final === null || last === null || isSame(final, last)) {
    return last === null ? [] : [last];
  }
  return [final, last];
}

function latest(looks: readonly ChainReading[]): ChainReading | null {
  return looks.reduce<ChainReading | null>(
    (best, one) => best === null || isLaterLook(one, best) ? one : best,
    null,
  );
}

function isSame(a: ChainReading, b: ChainReading): boolean {
  return a.readAt === b.readAt && a.digest === b.digest;
}

/**
 * The look that counts: the latest final one, else the latest, of those that
 * are about what the service shows now. A look at another transaction, address
 * or amount does not count.
 *
 * @param kept What {@linkcode addChainReading} kept.
 * @param shown The service's latest reading.
 * @returns Null where nobody looked at that.
 */
export function countingLook(
  kept: readonly ChainReading[],
  shown: OrderReading | null,
): ChainReading | null {
  if (shown === null) return null;
  const about = kept.filter((one) => isAbout(one, shown));
  return latest(about.filter((one) => one.final)) ?? latest(about);
}

/**
 * Whether a look was at what a reading shows; erased values count as equal.
 */
export function isAbout(look: ChainReading, shown: OrderReading): boolean {
  if (look.erased || shown.txErased) return true;
  return sameHash(look.txId ?? "", shown.txId ?? "") &&
    sameHash(look.address ?? "", shown.address ?? "") &&
    sameIgnoringCase(look.network, shown.network ?? "") &&
    sameAmount(look.amount ?? "", shown.cryptoAmount ?? "", null);
}
