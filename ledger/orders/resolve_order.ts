import type { AssetTable } from "../../core/assets/environment.ts";
import {
  type ClaimBody,
  type ClaimField,
  factsBy,
  type OrderFacts,
} from "../events/order_facts.ts";
import type { OrderReading } from "../events/order_reading.ts";
import type { Claim } from "./claims.ts";
import type { OrderFold } from "./order_fold.ts";
import { isFinal } from "../machines/order_machine.ts";
import {
  claimState,
  type DecidedStatus,
  decideOrderStatus,
} from "./order_status.ts";
import { visibleReading } from "./readings.ts";

/** How to work out a state. */
export interface ResolveOptions {
  /**
   * Asset table that gives the precision of amounts.
   *
   * @default {"production"}
   */
  readonly assets?: AssetTable;
}

/** What is worked out of an order on the way to its state. */
export interface Resolved {
  /** Status and trust. */
  readonly decided: DecidedStatus;
  /** Claims that are not contradicted, highest first. */
  readonly claims: readonly Claim[];
  /** Fields as shown in the state. */
  readonly fields: OrderFacts;
  /** Asset table that gives the precision of amounts. */
  readonly assets: AssetTable;
}

/**
 * Finds the claims that readings do not contradict and the visible fields of an
 * order.
 */
export function resolveOrder(
  fold: OrderFold,
  options: ResolveOptions = {},
): Resolved {
  const claims = uncontradictedClaims(fold);
  return {
    decided: decideOrderStatus(fold),
    claims,
    fields: visibleFacts(visibleReading(fold), claims),
    assets: options.assets ?? "production",
  };
}

/** Claims that are not contradicted, highest first. */
function uncontradictedClaims(fold: OrderFold): readonly Claim[] {
  const claims = fold.contradicted.length === 0
    ? fold.claims.slice()
    : fold.claims.filter((claim) => claimState(fold, claim) !== "contradicted");
  return claims.reverse();
}

/** The value of the highest claim, and of its highest body, that states one. */
export function claimedValue(
  claims: readonly Claim[],
  field: ClaimField,
): string | null {
  return claimedBody(claims, field)?.[field] ?? null;
}

/** The webhook body that a claimed field comes from. */
export function claimedBody(
  claims: readonly Claim[],
  field: ClaimField,
): ClaimBody | null {
  for (const { bodies } of claims) {
    for (const body of bodies) if (body[field] !== null) return body;
  }
  return null;
}

/** The reading's value where it states one, else the claim's. */
function visibleFacts(
  latest: OrderReading | null,
  claims: readonly Claim[],
): OrderFacts {
  return factsBy((field) => {
    const read = latest?.[field];
    if (read) return read;
    return field === "network" || saysNone(latest, field)
      ? null
      : claimedValue(claims, field);
  });
}

/**
 * Whether an empty field of a final reading means that there is no value. Then
 * no webhook may fill it: a failed order must not show a forged transaction,
 * and a paid order must not show a forged decline.
 */
function saysNone(
  latest: OrderReading | null,
  field: keyof OrderFacts,
): boolean {
  if (field !== "txId" && field !== "failReason") return false;
  if (latest === null || !isFinal(latest.status) || latest[field] !== "") {
    return false;
  }
  return field === "txId" || latest.status !== "failed";
}
