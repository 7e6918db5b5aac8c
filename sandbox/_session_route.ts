import { findAsset } from "../client/assets.ts";
import { answer, hasKey, type Parts, UNAUTHORIZED } from "./_app.ts";
import { isObject, NumberText, parseNumbersAsText } from "./_exact_json.ts";
import type { WidgetSession } from "./_sessions.ts";

const MUST_SPECIFY =
  "wallet_address and either commodity_amount or currency_amount must be " +
  "specified";

/** Networks whose addresses are 0x and forty hex digits. */
const EVM_NETWORKS: ReadonlySet<string> = new Set([
  "amoy",
  "arbitrum",
  "arbitrum_sepolia",
  "avalanche",
  "base",
  "base_sepolia",
  "bsc",
  "ethereum",
  "kucoin",
  "opbnb",
  "polygon",
  "puppynet",
  "sepolia",
  "shibarium",
]);

/** POST /api/external/hpp/create-session */
export async function sessionRoute(
  parts: Parts,
  request: Request,
): Promise<Response> {
  if (!hasKey(parts, request)) return answer(401, { message: UNAUTHORIZED });
  const asked = readSession(parts, await request.text());
  if (typeof asked === "string") {
    return answer(400, { message: `invalid request: ${asked}` });
  }
  const { sessionId, requestId } = addSession(parts, asked);
  return answer(200, { sessionId, requestId });
}

/** A session that locks nothing: the user chooses. */
export function addOpenSession(parts: Parts): WidgetSession {
  return addSession(parts, {
    flowType: "simple",
    userId: null,
    commodity: null,
    network: null,
    commodityAmount: null,
    currency: null,
    currencyAmount: null,
    walletAddress: null,
  });
}

function addSession(parts: Parts, asked: Asked): WidgetSession {
  const session: WidgetSession = {
    ...asked,
    sessionId: parts.maker.sessionId(),
    requestId: parts.maker.sessionId(),
    createdMs: parts.sandbox.clock.now(),
  };
  parts.sessions.add(session);
  return session;
}

type Asked = Omit<WidgetSession, "sessionId" | "requestId" | "createdMs">;

/** Reads what was asked for, or says what is wrong with it. */
function readSession(parts: Parts, text: string): Asked | string {
  let body: unknown;
  try {
    body = parseNumbersAsText(text);
  } catch {
    return "body is not JSON";
  }
  if (!isObject(body)) return "body must be an object";
  const fields = body;
  const wrong = wrongField(fields);
  if (wrong) return wrong;
  const asked: Asked = {
    flowType: String(fields.flow_type),
    userId: textOf(fields.user_id),
    commodity: textOf(fields.commodity),
    network: textOf(fields.network),
    commodityAmount: digits(fields.commodity_amount),
    currency: textOf(fields.currency),
    currencyAmount: digits(fields.currency_amount),
    walletAddress: textOf(fields.wallet_address),
  };
  return wrongSession(parts, asked) ?? asked;
}

const TEXTS = [
  "user_id",
  "commodity",
  "network",
  "currency",
  "wallet_address",
] as const;
const NUMBERS = ["commodity_amount", "currency_amount"] as const;

function wrongField(fields: Record<string, unknown>): string | null {
  const flow = fields.flow_type;
  if (flow === undefined) return "flow_type must be specified";
  if (flow !== "simple" && flow !== "simple_full_restrict") {
    return "flow_type must be simple or simple_full_restrict";
  }
  for (const name of TEXTS) {
    const value = fields[name];
    if (value !== undefined && value !== null && typeof value !== "string") {
      return `${name} must be a string`;
    }
  }
  for (const name of NUMBERS) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    if (!(value instanceof NumberText)) return `${name} must be a number`;
    if (!(Number(value.text) > 0)) return `${name} must be greater than 0`;
  }
  return null;
}

function wrongSession(parts: Parts, asked: Asked): string | null {
  const { assets, partner } = parts.sandbox;
  const locked = asked.flowType === "simple_full_restrict";
  const hasAmount = asked.commodityAmount !== null ||
    asked.currencyAmount !== null;
  if (
    locked && !partner.amountsOptional && !(asked.walletAddress && hasAmount)
  ) return MUST_SPECIFY;
  const commodity = asked.commodity ?? "BTC";
  const network = asked.network ?? "bitcoin";
  const named = asked.commodity !== null || asked.network !== null;
  if (named && findAsset(assets, commodity, network) === null) {
    return `commodity ${commodity} on network ${network} is not supported`;
  }
  const wallet = asked.walletAddress;
  if (
    wallet && EVM_NETWORKS.has(network.toLowerCase()) &&
    !/^0x[0-9a-fA-F]{40}$/.test(wallet)
  ) return "wallet_address is not valid for the commodity";
  return wrongMoney(asked, assets, commodity);
}

function wrongMoney(
  asked: Asked,
  assets: "production" | "sandbox",
  commodity: string,
): string | null {
  const { currency, currencyAmount } = asked;
  if (currencyAmount !== null && !currency) {
    return "currency must be specified with currency_amount";
  }
  const known = assets === "sandbox" ? ["USD"] : ["USD", "EUR"];
  if (currency && !known.includes(currency)) {
    return `currency ${currency} is not supported`;
  }
  // The default asset is BTC only where the table has it.
  const isBitcoin = commodity.toUpperCase() === "BTC" &&
    findAsset(assets, "BTC", "bitcoin") !== null;
  const least = isBitcoin ? 30 : 1;
  return currencyAmount !== null && Number(currencyAmount) < least
    ? `currency_amount must be at least ${least}`
    : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function digits(value: unknown): string | null {
  return value instanceof NumberText ? value.text : null;
}
