import type { SessionOptions } from "../../client/call_options.ts";
import { ValidationError } from "../../client/errors.ts";
import type {
  FlowType,
  SessionInput,
  SessionsApi,
} from "../../client/sessions.ts";
import { sessionValidityMs } from "../../core/rules/session_limits.ts";
import { defined } from "../../core/guards.ts";
import type { Ledger, OrderExpectation } from "../../ledger/mod.ts";
import { clickId, type SessionPlan } from "../../widget/mod.ts";
import { recordedSession } from "../../widget/session_endpoint.ts";

/** What an order is compared with before its goods are released. */
export interface SaleTerms {
  /** Fiat currency. Needed with `amount`. */
  readonly currency?: "USD" | "EUR";
  /** Fiat amount: an exact decimal in quotes, or a whole number. */
  readonly amount?: string | number;
  /** Asset, for example `ETH`; needs `network`. */
  readonly asset?: string;
  /** Network of the asset. */
  readonly network?: string;
  /** Amount of the asset, where no fiat amount is asked for. */
  readonly assetAmount?: string | number;
  /** Address that the asset goes to. */
  readonly wallet?: string;
  /** User of the service who should pay. */
  readonly userId?: string;
}

/** What is sold, and for how much. */
export interface SaleInput extends SaleTerms {
  /**
   * Your own reference of the purchase, for example an invoice or a basket. It
   * names one purchase: not a user, and not a shop.
   */
  readonly reference: string;
  /**
   * `simple` lets the customer choose what the sale leaves open;
   * `simple_full_restrict` locks everything.
   *
   * @default {"simple"}
   */
  readonly flowType?: FlowType;
  /**
   * `simple_full_restrict` then needs no wallet and no amount; say with
   * `expected` what is compared.
   *
   * @default {false}
   */
  readonly smartContract?: boolean;
  /**
   * Sells an asset that this version's list does not have.
   *
   * @default {false}
   */
  readonly allowUnlistedAssets?: boolean;
  /** Terms to compare the order with in place of the sale's own. */
  readonly expected?: SaleTerms;
  /** How long an order of it is expected, in ms. @default {seven days} */
  readonly validForMs?: number;
}

/** A sale that the service and the ledger know. */
export interface Sale {
  /** Opens the widget, once and within `validForMs`. */
  readonly sessionId: string;
  /** Click id to open the widget with. */
  readonly clickId: string;
  /** Your reference. */
  readonly reference: string;
  /** Names the request to the service's support; null where it named none. */
  readonly requestId: string | null;
  /** What the service will ignore or round, one sentence each. */
  readonly warnings: readonly string[];
  /** How long the session can be opened, in ms. */
  readonly validForMs: number;
}

/** What is expected of an order whose widget is opened without a session. */
export interface ExpectedSale extends SaleTerms {
  /** Your own reference of the purchase. */
  readonly reference: string;
  /** Click id that the widget is opened with. @default {a new one} */
  readonly clickId?: string;
  /** How long an order of it is expected, in ms. @default {seven days} */
  readonly validForMs?: number;
  /**
   * When it was asked for, UTC ISO 8601. State it where that is long before.
   *
   * @default {when it is recorded}
   */
  readonly askedAt?: string;
}

/** A session, and what its rules depend on. */
export type SaleSession =
  & SessionInput
  & Pick<SessionOptions, "smartContract" | "allowUnlistedAssets">;

/** What sells. */
export interface SellParts {
  /** Asks the service for sessions. */
  readonly sessions: Pick<SessionsApi, "create">;
  /** Records what was asked for. */
  readonly ledger: Pick<Ledger, "recordSession">;
  /** Makes a click id. @default {a UUID} */
  readonly newClickId?: () => string;
}

/** What the page's endpoint and {@linkcode sell} do with a sale. */
export function salePlan(sale: SaleInput): SessionPlan<SaleSession> {
  const { flowType, smartContract, allowUnlistedAssets } = sale;
  const { expected, reference, validForMs } = sale;
  return defined({
    session: defined({
      flow_type: flowType,
      smartContract,
      allowUnlistedAssets,
      ...termsOf(sale),
    }) as SaleSession,
    reference,
    expected: expected === undefined ? undefined : defined(termsOf(expected)),
    validForMs,
  });
}

/** Creates a session of a sale at the service. */
export async function createSession(
  { sessions }: Pick<SellParts, "sessions">,
  { smartContract, allowUnlistedAssets, ...session }: SaleSession,
): ReturnType<SessionsApi["create"]> {
  const options = defined({ smartContract, allowUnlistedAssets });
  try {
    return await sessions.create(session, options);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { status, requestId, serviceCode, serviceMessage } = error;
    throw new ValidationError("Cannot sell", {
      ...{ status, requestId, serviceCode, serviceMessage, cause: error },
      faults: error.faults.map(({ field, rule }) => ({
        field: inSale(field),
        rule: inSale(rule),
      })),
    });
  }
}

/** What a sale calls the fields of a session. */
const SALE_FIELDS: Readonly<Record<string, string>> = {
  flow_type: "flowType",
  ...{ commodity: "asset", commodity_amount: "assetAmount" },
  ...{ currency_amount: "amount", wallet_address: "wallet", user_id: "userId" },
};

/** A text about a session in the words of a sale. */
function inSale(text: string): string {
  return text.replaceAll(/\b[a-z_]+\b/g, (word) => SALE_FIELDS[word] ?? word);
}

/** Makes a session with the service, and records what was asked for. */
export async function sell(
  parts: SellParts,
  sale: SaleInput,
): Promise<Sale> {
  checkReference("sell", sale);
  const { newClickId = clickId, ledger } = parts;
  let warnings: readonly string[] = [];
  const { session_id, request_id, click_id } = await recordedSession(
    salePlan(sale),
    newClickId(),
    {
      createSession: async (session) => {
        const created = await createSession(parts, session);
        warnings = created.warnings;
        return created;
      },
      recordSession: ledger.recordSession,
    },
  );
  return {
    sessionId: session_id,
    clickId: click_id,
    reference: sale.reference,
    requestId: request_id ?? null,
    warnings,
    validForMs: sessionValidityMs,
  };
}

/** Records what is expected of an order, under a click id. */
export async function expectSale(
  { ledger, newClickId = clickId }: {
    readonly ledger: Pick<Ledger, "expect">;
    readonly newClickId?: () => string;
  },
  expected: ExpectedSale,
): Promise<{ readonly id: string; readonly clickId: string }> {
  checkReference("expect", expected);
  const { currency, amount, asset, assetAmount, wallet, ...same } = expected;
  const expectation: OrderExpectation = defined({
    ...same,
    clickId: expected.clickId ?? newClickId(),
    currency,
    currencyAmount: amount,
    commodity: asset,
    commodityAmount: assetAmount,
    walletAddress: wallet,
  });
  const { id } = await ledger.expect(expectation);
  return { id, clickId: expectation.clickId };
}

/** Without a reference nobody could say later what was paid for. */
function checkReference(
  what: string,
  { reference }: { readonly reference: unknown },
): void {
  if (typeof reference === "string" && reference.trim() !== "") return;
  throw new TypeError(
    `Cannot ${what}: reference is ${JSON.stringify(reference)}; name the ` +
      'purchase with an identifier of your own, for example "basket-17"',
  );
}

function termsOf(terms: SaleTerms): Pick<
  SessionInput,
  | "user_id"
  | "commodity"
  | "network"
  | "commodity_amount"
  | "wallet_address"
  | "currency"
  | "currency_amount"
> {
  return defined({
    user_id: terms.userId,
    commodity: terms.asset,
    network: terms.network,
    commodity_amount: terms.assetAmount,
    wallet_address: terms.wallet,
    currency: terms.currency,
    currency_amount: terms.amount,
  });
}
