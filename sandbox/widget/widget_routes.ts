import { Hono } from "hono";
import { assets } from "../../core/assets/assets.ts";
import { isRecord, messageOf } from "../../core/guards.ts";
import { isWalletAddress } from "../../core/rules/wallet_address.ts";
import { centsFor, marketOf, marketsOf, unitsFor } from "../engine/markets.ts";
import type { OrderStep } from "../engine/order_steps.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";
import type { WidgetSession } from "../engine/session_store.ts";
import { answer } from "../http/answer.ts";
import { addressOf, decimalOf, unitsOf } from "../seeded/seeded_values.ts";
import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { refusedPage, widgetPage } from "./widget_page.ts";

/** One opening of the widget. */
interface Visit {
  readonly session: WidgetSession;
  readonly clickId: string;
  readonly options: URLSearchParams;
  orderId: string | null;
}

/** What the widget offers before the user changes it. */
interface Preset {
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
export function widgetRoutes(engine: SandboxEngine): Hono {
  const visits = new Map<string, Visit>();
  const app = new Hono();
  app.get("/", (context) => {
    const options = new URL(context.req.url).searchParams;
    const clickId = options.get("click_id") ?? "";
    const sessionId = options.get("session_id") ?? "";
    const opened = engine.sessions.open(sessionId, clickId);
    if ("refused" in opened) return refusedPage(opened.refused, options);
    const visit: Visit = {
      session: opened.session,
      clickId,
      options,
      orderId: null,
    };
    const token = engine.factory.uuid();
    visits.set(token, visit);
    return widgetPage(describe(engine, visit, token), options);
  });
  app.post("/steps", async (context) => {
    const body: unknown = await context.req.json().catch(() => null);
    const fields = isRecord(body) ? body : {};
    const visit = visits.get(String(fields.token));
    if (!visit) return answer(403, { error: "This visit is over" });
    try {
      return answer(200, publicOrder(takeStep(engine, visit, fields)));
    } catch (error) {
      const message = messageOf(error);
      return answer(400, { error: message });
    }
  });
  return app;
}

/** Lets the order of a visit take a step. Paying creates the order. */
function takeStep(
  engine: SandboxEngine,
  visit: Visit,
  fields: Record<string, unknown>,
): SandboxOrder {
  const step = String(fields.step);
  if (step === "pay") {
    visit.orderId = pay(engine, visit, fields).orderId;
    return engine.orderCommands.advance(visit.orderId, "pay");
  }
  if (visit.orderId === null) throw new RangeError("Cannot move: pay first");
  if (!STEPS.has(step)) throw new RangeError(`Cannot move: no step "${step}"`);
  const failReason = typeof fields.failReason === "string"
    ? { failReason: fields.failReason }
    : {};
  return engine.orderCommands.advance(
    visit.orderId,
    step as OrderStep,
    failReason,
  );
}

function pay(
  engine: SandboxEngine,
  visit: Visit,
  fields: Record<string, unknown>,
): SandboxOrder {
  const { session, clickId, options } = visit;
  const chosen = preset(engine, visit);
  const locked = session.flowType === "simple_full_restrict";
  const own = (name: string, otherwise: string) =>
    !locked && typeof fields[name] === "string" && fields[name] !== ""
      ? String(fields[name])
      : otherwise;
  const scInputData = options.get("sc_input_data");
  const network = own("network", chosen.network);
  const address = own("address", chosen.address);
  if (isWalletAddress(network, address) === false) {
    throw new RangeError(
      `Cannot pay: "${address}" is not an address of ${network}`,
    );
  }
  // NFT Checkout has no session, neither for the order nor for its user.
  const sessionId = scInputData ? null : session.sessionId;
  const userId = session.userId ?? newUser(engine, { clickId, sessionId });
  const { currencyAmount } = chosen;
  const paid = own("currencyAmount", currencyAmount);
  const cryptoAmount = locked && session.commodityAmount !== null &&
      session.currencyAmount === null
    ? session.commodityAmount
    : undefined;
  return engine.orderCommands.create({
    userId,
    clickId,
    sessionId,
    currency: session.currency ?? "USD",
    ...(cryptoAmount ? { cryptoAmount } : { currencyAmount: paid }),
    commodity: own("commodity", chosen.commodity),
    network,
    cryptoType: scInputData ? "sc" : "simple",
    address,
    scAddress: scInputData ? options.get("sc_address") : null,
    scInputData,
  });
}

/** A new user who registers, is verified and saves a card. */
function newUser(
  engine: SandboxEngine,
  place: { clickId: string; sessionId: string | null },
): string {
  const { userId } = engine.userCommands.create();
  engine.userCommands.advance(userId, "registration", place);
  engine.userCommands.advance(userId, "verify_start", place);
  engine.userCommands.advance(userId, "verify_success", place);
  engine.userCommands.advance(userId, "card_added", place);
  return userId;
}

/** The asset, amount and wallet from the session, the options or our presets. */
function preset(engine: SandboxEngine, visit: Visit): Preset {
  const { session, options } = visit;
  const markets = marketsOf(engine.assets);
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
      addressOf(network, "5a".repeat(20)),
  };
}

/** The data that the page gets about the visit. */
function describe(
  engine: SandboxEngine,
  visit: Visit,
  token: string,
): Record<string, unknown> {
  const chosen = preset(engine, visit);
  const markets = marketsOf(engine.assets);
  return {
    token,
    steps: `/${engine.partnerId}/widget/steps`,
    locked: visit.session.flowType === "simple_full_restrict",
    currency: visit.session.currency ?? "USD",
    ...chosen,
    assets: assets[engine.assets].map(({ commodity, network, decimals }) => {
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
