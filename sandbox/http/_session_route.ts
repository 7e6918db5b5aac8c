import type { AssetTable } from "../../core/assets/environment.ts";
import { isRecord } from "../../core/guards.ts";
import { plainDecimal } from "../../core/json/exact_json.ts";
import {
  ExactNumber,
  parseWithExactNumbers,
} from "../../core/json/exact_number.ts";
import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../../core/rules/fiat_amount.ts";
import {
  type BrokenSessionRule,
  checkSession,
} from "../../core/rules/session_rules.ts";
import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { answer, hasKey, UNAUTHORIZED } from "./answer.ts";
import type { SessionRequest } from "../engine/session_store.ts";

const MUST_SPECIFY =
  "wallet_address and either commodity_amount or currency_amount must be " +
  "specified";

/** POST /api/external/hpp/create-session */
export async function sessionRoute(
  engine: SandboxEngine,
  request: Request,
): Promise<Response> {
  if (!hasKey(engine, request)) return answer(401, { message: UNAUTHORIZED });
  const session = readSession(engine, await request.text());
  if (typeof session === "string") {
    return answer(400, { message: `invalid request: ${session}` });
  }
  const { sessionId, requestId } = engine.sessions.create(session);
  return answer(200, { sessionId, requestId });
}

/** Reads the body, or says what is wrong with it. */
function readSession(
  engine: SandboxEngine,
  text: string,
): SessionRequest | string {
  let body: unknown;
  try {
    body = parseWithExactNumbers(text);
  } catch {
    return "body is not JSON";
  }
  if (!isRecord(body)) return "body must be an object";
  if (body.flow_type === undefined) return "flow_type must be specified";
  const fields = {
    ...body,
    commodity_amount: amountOf(body.commodity_amount),
    currency_amount: amountOf(body.currency_amount),
  };
  const { assets, partner } = engine;
  const { broken: [broken], commodityAmount, currencyAmount } = checkSession(
    fields,
    {
      assets,
      allowsUnlistedAssets: false,
      needsSmartContracts: false,
      amountsOptional: partner.amountsOptional,
    },
  );
  if (broken !== undefined) return sentenceOf(broken, body, assets);
  return {
    flowType: String(body.flow_type),
    userId: textOf(body.user_id),
    commodity: textOf(body.commodity),
    network: textOf(body.network),
    commodityAmount,
    currency: textOf(body.currency),
    currencyAmount,
    walletAddress: textOf(body.wallet_address),
  };
}

/** A number's digits; null, which no amount may be, for any other value. */
function amountOf(value: unknown): string | null | undefined {
  if (value === undefined) return undefined;
  return value instanceof ExactNumber ? plainDecimal(value.text) : null;
}

function sentenceOf(
  { field, code }: BrokenSessionRule,
  fields: Readonly<Record<string, unknown>>,
  table: AssetTable,
): string {
  const { commodity = "BTC", network = "bitcoin", currency } = fields;
  switch (code) {
    case "unknown_flow":
      return "flow_type must be simple or simple_full_restrict";
    case "not_text":
      return `${field} must be a string`;
    case "missing_network":
    case "unlisted_commodity":
    case "unlisted_network":
    case "no_smart_contracts":
      return `commodity ${commodity} on network ${network} is not supported`;
    case "wrong_address":
      return "wallet_address is not valid for the commodity";
    case "not_decimal":
      return `${field} must be a number`;
    case "not_positive":
      return `${field} must be greater than 0`;
    case "missing_currency":
      return "currency must be specified with currency_amount";
    case "unknown_currency":
    case "currency_not_in_sandbox":
      return `currency ${currency} is not supported`;
    case "too_many_decimals":
      return `currency_amount must have at most ${FIAT_DECIMALS} decimals`;
    case "below_minimum":
      return "currency_amount must be at least " +
        minimumAmount(String(fields.commodity ?? defaultCommodity(table)));
    case "missing_in_restricted_flow":
      return MUST_SPECIFY;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
