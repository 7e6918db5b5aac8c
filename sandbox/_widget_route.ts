import { assets } from "../client/assets.ts";
import { answer, type Parts } from "./_app.ts";
import { decimalOf, unitsOf } from "./_decimals.ts";
import { isObject } from "./_exact_json.ts";
import {
  centsFor,
  marketOf,
  PRODUCTION_MARKETS,
  SANDBOX_MARKETS,
  unitsFor,
} from "./_markets.ts";
import type { OrderStep } from "./order_life.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { WidgetSession } from "./_sessions.ts";
import { refusedPage, widgetPage } from "./_widget_page.ts";

/** One opening of the widget. */
interface Visit {
  readonly session: WidgetSession;
  readonly clickId: string;
  readonly options: URLSearchParams;
  orderId: string | null;
}

/** What a person in front of the widget chose. */
interface Choice {
  readonly commodity: string;
  readonly network: string;
  readonly currencyAmount: string;
  readonly address: string;
}

const STEPS: ReadonlySet<string> = new Set<OrderStep>([
  "authorise",
  "transfer",
  "complete",
  "fail",
  "cancel",
]);

/** The widget's page and the requests it makes. */
export interface WidgetRoutes {
  /** GET /{partner_id}/widget */
  page(request: Request): Response;
  /** POST /{partner_id}/widget/steps */
  step(request: Request): Promise<Response>;
}

/** Makes the widget's routes. */
export function widgetRoutes(parts: Parts): WidgetRoutes {
  const visits = new Map<string, Visit>();
  return {
    page(request) {
      const options = new URL(request.url).searchParams;
      const opened = parts.sessions.open(
        options.get("session_id") ?? "",
        parts.sandbox.clock.now(),
      );
      if ("refused" in opened) return refusedPage(opened.refused, options);
      const visit: Visit = {
        session: opened.session,
        clickId: options.get("click_id") ?? "",
        options,
        orderId: null,
      };
      const token = parts.maker.sessionId();
      visits.set(token, visit);
      return widgetPage(describe(parts, visit, token), options);
    },
    async step(request) {
      const body: unknown = await request.json().catch(() => null);
      const fields = isObject(body) ? body : {};
      const visit = visits.get(String(fields.token));
      if (!visit) return answer(403, { error: "This visit is over" });
      try {
        const order = move(parts, visit, fields);
        return answer(200, publicOrder(order));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return answer(400, { error: message });
      }
    },
  };
}

/** Lets the visit's order take a step; paying creates it. */
function move(
  parts: Parts,
  visit: Visit,
  fields: Record<string, unknown>,
): SandboxOrder {
  const { sandbox } = parts;
  const step = String(fields.step);
  if (step === "pay") {
    visit.orderId = pay(parts, visit, fields).orderId;
    return sandbox.advance(visit.orderId, "pay");
  }
  if (visit.orderId === null) throw new RangeError("Cannot move: pay first");
  if (!STEPS.has(step)) throw new RangeError(`Cannot move: no step "${step}"`);
  const failReason = typeof fields.failReason === "string"
    ? { failReason: fields.failReason }
    : {};
  return sandbox.advance(visit.orderId, step as OrderStep, failReason);
}

function pay(
  parts: Parts,
  visit: Visit,
  fields: Record<string, unknown>,
): SandboxOrder {
  const { sandbox } = parts;
  const { session, clickId, options } = visit;
  const chosen = choice(parts, visit);
  const locked = session.flowType === "simple_full_restrict";
  const own = (name: string, otherwise: string) =>
    !locked && typeof fields[name] === "string" && fields[name] !== ""
      ? String(fields[name])
      : otherwise;
  const place = { clickId, sessionId: session.sessionId };
  const userId = session.userId ?? newUser(parts, place);
  const scInputData = options.get("sc_input_data");
  const { currencyAmount } = chosen;
  const paid = own("currencyAmount", currencyAmount);
  const cryptoAmount = locked && session.commodityAmount !== null &&
      session.currencyAmount === null
    ? session.commodityAmount
    : undefined;
  return sandbox.createOrder({
    userId,
    clickId,
    sessionId: scInputData ? null : session.sessionId,
    currency: session.currency ?? "USD",
    ...(cryptoAmount ? { cryptoAmount } : { currencyAmount: paid }),
    commodity: own("commodity", chosen.commodity),
    network: own("network", chosen.network),
    cryptoType: scInputData ? "sc" : "simple",
    address: own("address", chosen.address),
    scAddress: scInputData ? options.get("sc_address") : null,
    scInputData,
  });
}

/** Somebody who registers, verifies and saves a card on the way. */
function newUser(
  parts: Parts,
  place: { clickId: string; sessionId: string },
): string {
  const { sandbox } = parts;
  const { userId } = sandbox.createUser();
  sandbox.advanceUser(userId, "registration", place);
  sandbox.advanceUser(userId, "verify_start", place);
  sandbox.advanceUser(userId, "verify_success", place);
  sandbox.advanceUser(userId, "card_added", place);
  return userId;
}

/** What the session, else the options, else the stub suggests. */
function choice(parts: Parts, visit: Visit): Choice {
  const { session, options } = visit;
  const { assets: table } = parts.sandbox;
  const markets = table === "sandbox" ? SANDBOX_MARKETS : PRODUCTION_MARKETS;
  const [first] = markets;
  const locked = session.flowType === "simple_full_restrict";
  const option = (name: string) => locked ? null : options.get(name);
  const commodity = session.commodity ?? option("commodity") ??
    first?.commodity ?? "";
  const network = session.network ?? option("network") ?? first?.network ?? "";
  const market = marketOf(markets, commodity, network, 18);
  const given = session.currencyAmount ?? option("currency_amount");
  const bought = session.commodityAmount ?? option("commodity_amount");
  return {
    commodity,
    network,
    currencyAmount: given ??
      (bought
        ? decimalOf(centsFor(market, unitsOf(bought, market.decimals)), 2)
        : "25"),
    address: session.walletAddress ?? option("address") ??
      `0x${"5a".repeat(20)}`,
  };
}

/** What the page is told about the visit. */
function describe(
  parts: Parts,
  visit: Visit,
  token: string,
): Record<string, unknown> {
  const { sandbox } = parts;
  const chosen = choice(parts, visit);
  const markets = sandbox.assets === "sandbox"
    ? SANDBOX_MARKETS
    : PRODUCTION_MARKETS;
  return {
    token,
    steps: `/${sandbox.partnerId}/widget/steps`,
    locked: visit.session.flowType === "simple_full_restrict",
    currency: visit.session.currency ?? "USD",
    ...chosen,
    assets: assets[sandbox.assets].map(({ commodity, network, decimals }) => {
      const market = marketOf(markets, commodity, network, decimals);
      return {
        commodity,
        network,
        decimals,
        perDollar: decimalOf(unitsFor({ ...market, decimals }, 100n), decimals),
      };
    }),
  };
}

function publicOrder(order: SandboxOrder): Record<string, unknown> {
  const { orderId, externalOrderId, status, txId, cryptoAmount } = order;
  const { commodity, network, currencyAmount, currency, failReason } = order;
  return {
    orderId,
    externalOrderId,
    status,
    txId,
    cryptoAmount,
    commodity,
    network,
    currencyAmount,
    currency,
    failReason,
  };
}
