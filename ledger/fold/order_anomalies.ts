import { assetDecimals } from "../../client/assets.ts";
import type { Anomaly, AnomalyKind } from "./anomaly.ts";
import { sameAmount, sameHash, sameIgnoringCase } from "./compare.ts";
import type { ClaimBody, OrderReading, SessionAsked } from "./fact.ts";
import type { Claim } from "./claims.ts";
import type { OrderFold } from "./order_fold.ts";
import { isFinal, isKnown, orderRank } from "./order_rank.ts";
import type { OrderFacts } from "./order_state.ts";
import { claimStanding, contestingClaims } from "./order_status.ts";
import type { Resolved } from "./resolve_order.ts";
import { compareTimes } from "./time.ts";

/**
 * Lists what is odd about an order.
 *
 * @param fold What is known of the order.
 * @param resolved What was found out on the way to its state.
 * @returns The anomalies, sorted by kind, then field.
 */
export function orderAnomalies(
  fold: OrderFold,
  resolved: Resolved,
): readonly Anomaly[] {
  const found: Anomaly[] = [];
  statusAnomalies(fold, found);
  transactionAnomalies(fold, resolved, found);
  claimMismatches(fold, resolved, found);
  if (resolved.asked !== null) {
    sessionMismatches(resolved.fields, resolved.asked, resolved, found);
  }
  return found.length < 2 ? found : found.sort(byKindThenField);
}

function statusAnomalies(fold: OrderFold, found: Anomaly[]): void {
  const { latest } = fold;
  const contesting = contestingClaims(fold);
  if (latest !== null && contesting.length > 0) {
    found.push({
      kind: "contested",
      detail: `The service shows ${latest.status}, a webhook claims ${
        contesting.join(" and ")
      }`,
    });
  }
  const finals = fold.claims.filter((claim) =>
    isFinal(claim.status) && claimStanding(fold, claim) !== "contradicted"
  );
  if (
    finals.length > 1 &&
    !finals.every((claim) => claimStanding(fold, claim) === "shown")
  ) {
    found.push({
      kind: "contradictory_webhooks",
      detail: `Webhooks claim ${
        finals.map((claim) => claim.status).join(" and ")
      }`,
    });
  }
  for (const claim of fold.claims) {
    if (
      claimStanding(fold, claim) === "contradicted" && !isOvertaken(fold, claim)
    ) {
      found.push({
        kind: "contradicted",
        detail: `A webhook claimed ${claim.status}, and the service ${
          latest === null ? "did not agree" : `shows ${latest.status}`
        }`,
      });
    }
  }
  const backwards = regression(fold);
  if (backwards !== null) {
    found.push({ kind: "regression", detail: backwards });
  }
  if (
    fold.absentAt !== null &&
    (fold.seenAt === null || compareTimes(fold.absentAt, fold.seenAt) > 0)
  ) {
    found.push({
      kind: "absent",
      detail: fold.seenAt === null
        ? "The service was asked for the order and does not know it"
        : "The service showed the order once and does not know it any more",
    });
  }
  if (latest !== null && !isKnown(latest.status)) {
    found.push({
      kind: "unrecognised_status",
      detail: `This version does not know the status ${latest.status}`,
    });
  }
}

/**
 * Whether a claim was overtaken: the latest reading ranks at least as high and
 * the claim is not final, so that nothing hangs on it any more.
 */
function isOvertaken(fold: OrderFold, claim: Claim): boolean {
  return fold.latest !== null && !isFinal(claim.status) &&
    orderRank(fold.latest.status) >= orderRank(claim.status);
}

/** The service's own history went back: a lower status later than a higher one. */
function regression({ shown }: OrderFold): string | null {
  for (const high of shown) {
    if (!isKnown(high.status) || high.first === "") continue;
    for (const low of shown) {
      if (
        orderRank(low.status) < orderRank(high.status) && low.last !== "" &&
        compareTimes(low.last, high.first) > 0
      ) {
        return `The service showed ${high.status} at ${high.first} and ${low.status} later, at ${low.last}`;
      }
    }
  }
  return null;
}

function transactionAnomalies(
  fold: OrderFold,
  { standing, decided }: Resolved,
  found: Anomaly[],
): void {
  const { latest } = fold;
  if (latest !== null && latest.status === "success" && latest.txId === "") {
    found.push({
      kind: "success_without_transaction",
      field: "txId",
      detail: "The service shows success with an empty transaction",
    });
  }
  const { status } = decided;
  if (status !== "failed" && status !== "cancelled") return;
  if (latest !== null && latest.txId) {
    found.push({
      kind: "transaction_on_unsuccessful",
      field: "txId",
      detail:
        `The order is ${status} and the service shows transaction ${latest.txId}`,
    });
    return;
  }
  const body = firstBody(standing, (body) => body.txId !== null);
  if (body !== null) {
    found.push({
      kind: "transaction_on_unsuccessful",
      field: "txId",
      detail:
        `The order is ${status} and a webhook states transaction ${body.txId}`,
    });
  }
}

type ComparedField =
  | "currency"
  | "currencyAmount"
  | "commodity"
  | "cryptoAmount"
  | "address"
  | "txId"
  | "userId";

const kindOf: Readonly<Record<ComparedField, AnomalyKind>> = {
  currency: "amount_mismatch",
  currencyAmount: "amount_mismatch",
  commodity: "asset_mismatch",
  cryptoAmount: "amount_mismatch",
  address: "address_mismatch",
  txId: "transaction_mismatch",
  userId: "user_mismatch",
};

const comparedFields = Object.keys(kindOf) as readonly ComparedField[];

function claimMismatches(
  { latest }: OrderFold,
  resolved: Resolved,
  found: Anomaly[],
): void {
  if (latest === null) return;
  for (const field of comparedFields) {
    const read = latest[field];
    if (!read) continue;
    const body = firstBody(resolved.standing, (body) => {
      const stated = body[field];
      return stated !== null && stated !== read &&
        !agree(field, stated, read, latest, resolved);
    });
    if (body !== null) {
      found.push({
        kind: kindOf[field],
        field,
        detail: `A webhook states ${body[field]}, the service shows ${read}`,
      });
    }
  }
}

function agree(
  field: ComparedField,
  stated: string,
  read: string,
  latest: OrderReading,
  { asked, assets }: Resolved,
): boolean {
  switch (field) {
    case "currencyAmount":
      return sameAmount(stated, read, null);
    case "cryptoAmount":
      return sameAmount(
        stated,
        read,
        precision(
          assets,
          latest.commodity,
          latest.network ?? asked?.network ?? null,
        ),
      );
    case "address":
    case "txId":
      return sameHash(stated, read);
    case "currency":
    case "commodity":
      return sameIgnoringCase(stated, read);
    case "userId":
      return stated === read;
  }
}

function sessionMismatches(
  fields: OrderFacts,
  asked: SessionAsked,
  { assets }: Resolved,
  found: Anomaly[],
): void {
  const free = asked.flowType === "simple_full_restrict"
    ? ""
    : ", which its flow leaves open to the customer";
  const compare = (
    kind: AnomalyKind,
    field: keyof OrderFacts,
    wanted: string | null,
    same: (a: string, b: string) => boolean,
  ): void => {
    const ordered = fields[field];
    if (wanted === null || ordered === null || same(wanted, ordered)) return;
    found.push({
      kind,
      field,
      detail: `The session asked for ${wanted}, the order has ${ordered}${
        kind === "user_mismatch" ? "" : free
      }`,
    });
  };
  compare("amount_mismatch", "currency", asked.currency, sameIgnoringCase);
  compare(
    "amount_mismatch",
    "currencyAmount",
    asked.currencyAmount,
    (a, b) => sameAmount(a, b, null),
  );
  // The service ignores commodity_amount where currency_amount is set.
  if (asked.currencyAmount === null) {
    compare(
      "amount_mismatch",
      "cryptoAmount",
      asked.commodityAmount,
      (a, b) =>
        sameAmount(
          a,
          b,
          precision(assets, fields.commodity, fields.network ?? asked.network),
        ),
    );
  }
  compare("asset_mismatch", "commodity", asked.commodity, sameIgnoringCase);
  compare("asset_mismatch", "network", asked.network, sameIgnoringCase);
  compare("address_mismatch", "address", asked.walletAddress, sameHash);
  compare("user_mismatch", "userId", asked.userId, (a, b) => a === b);
}

function precision(
  assets: Resolved["assets"],
  commodity: string | null,
  network: string | null,
): number | null {
  return commodity === null || network === null
    ? null
    : assetDecimals(assets, commodity, network);
}

function firstBody(
  standing: Resolved["standing"],
  matches: (body: ClaimBody) => boolean,
): ClaimBody | null {
  for (const { bodies } of standing) {
    for (const body of bodies) if (matches(body)) return body;
  }
  return null;
}

function byKindThenField(a: Anomaly, b: Anomaly): number {
  return compare(a.kind, b.kind) || compare(a.field ?? "", b.field ?? "") ||
    compare(a.detail, b.detail);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
