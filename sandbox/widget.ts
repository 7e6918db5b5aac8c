import { Hono } from "hono";
import { assets } from "../core/assets/assets.ts";
import { describeFailReason, failReasons } from "../core/assets/fail_reason.ts";
import { decimalOfUnits } from "../core/decimal.ts";
import { isRecord, messageOf } from "../core/guards.ts";
import { isWalletAddress } from "../core/rules/wallet_address.ts";
import { answer, escapeHtml, htmlPage } from "./answer.ts";
import * as factory from "./factory.ts";
import type { Service, SessionRequest, WidgetSession } from "./service.ts";
import type { OrderStep, SandboxOrder } from "./sandbox.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the user is to buy, and where it goes. */
type Purchase = Pick<
  SandboxOrder,
  "commodity" | "network" | "currencyAmount" | "address"
>;

/** One opening of the widget. */
interface Visit {
  readonly session: WidgetSession;
  readonly isLocked: boolean;
  readonly options: Readonly<Record<string, string>>;
  readonly purchase: Purchase;
  orderId?: string;
}

const REFUSALS = {
  unknown: "There is no such session. Create one when the user clicks.",
  expired: "This session is older than 30 seconds. Create one when the user " +
    "clicks.",
  used: "This session was opened before. Each opening needs a new one.",
};

/** A stub of the widget: its page, and the steps that its buttons take. */
export function widgetRoutes(service: Service): Hono {
  const visits = new Map<string, Visit>();
  const app = new Hono();
  app.onError((error) => answer(400, { error: messageOf(error) }));
  app.get("/", (context) => {
    const options = context.req.query();
    const { session_id = "", click_id = "", theme, brand_color = "" } = options;
    const [brandColor = null] = /^#[0-9a-f]{3,8}$/i.exec(brand_color) ?? [];
    const look = { theme, brandColor };
    const session = service.sessions.open(session_id, click_id);
    if (typeof session === "string") {
      const why = REFUSALS[session];
      return widgetPage("", { refused: session, why, ...look });
    }
    const isLocked = session.flow_type === "simple_full_restrict";
    const stated = { ...(!isLocked && options), ...session };
    const { rate, ...purchase } = offerOf(service, stated);
    const visit = { session, isLocked, options, purchase };
    const token = service.factory.uuid();
    visits.set(token, visit);
    const data = { token, isLocked, rate, ...look };
    return widgetPage(checkout(service, visit), data);
  });
  app.post("/steps", async (context) => {
    const body: unknown = await context.req.json();
    const fields: Fields = isRecord(body) ? body : {};
    const visit = visits.get(String(fields.token));
    return visit
      ? answer(200, take(service, visit, fields))
      : answer(403, { error: "This visit is over" });
  });
  return app;
}

/** The asset, amount and wallet that are stated, or our presets, and the rate. */
function offerOf(
  { assets }: Service,
  stated: SessionRequest & { readonly address?: string },
): Purchase & { readonly rate: Fields } {
  const network = stated.network ?? (assets === "sandbox" ? "amoy" : "polygon");
  const market = factory.marketOf(assets, stated.commodity ?? "POL", network);
  const { commodity, decimals } = market;
  const bought = factory.unitsOf(stated.commodity_amount ?? "0", decimals);
  const cost = bought === 0n ? 2_500n : factory.centsFor(market, bought);
  const currencyAmount = stated.currency_amount ?? decimalOfUnits(cost, 2);
  const cents = factory.unitsOf(currencyAmount, 2);
  return {
    ...{ commodity, network, currencyAmount },
    address: stated.wallet_address ?? stated.address ??
      factory.addressOf(network, "5a".repeat(20)),
    rate: {
      ticker: commodity + (stated.currency ?? "USD"),
      ...{ currency_amount: currencyAmount, purchase_amount: currencyAmount },
      commodity_amount: decimalOfUnits(
        factory.unitsFor(market, cents),
        decimals,
      ),
      // The fee is five percent.
      ...{ fee_percent: "5", fee_amount: decimalOfUnits(cents / 20n, 2) },
      ...{ miner_fee: "0", currency_miner_fee: "0" },
    },
  };
}

/** Pays, or lets the order of a visit take another step. */
function take(
  service: Service,
  visit: Visit,
  { step, failReason, ...fields }: Fields,
): SandboxOrder {
  if (step === "pay") {
    const chosen = { ...visit.purchase, ...(!visit.isLocked && fields) };
    visit.orderId = create(service, visit, chosen).orderId;
  }
  if (visit.orderId === undefined) {
    throw new RangeError("Cannot move: pay first");
  }
  const facts = typeof failReason === "string" ? { failReason } : {};
  return service.advance(visit.orderId, step as OrderStep, facts);
}

/** Creates the order of a visit, and its user where the session names none. */
function create(
  service: Service,
  { session, isLocked, options }: Visit,
  { commodity, network, currencyAmount, address }: Purchase,
): SandboxOrder {
  if (isWalletAddress(network, address) === false) {
    throw new RangeError(
      `Cannot pay: "${address}" is not an address of ${network}`,
    );
  }
  const scInputData = options.sc_input_data ?? null;
  // NFT Checkout has no session, neither for the order nor for its user.
  const sessionId = scInputData ? null : session.sessionId;
  const place = { clickId: options.click_id ?? "", sessionId };
  const userId = session.user_id ?? service.createUser().userId;
  const steps = [
    ...["otp_requested", "otp_success", "registration"] as const,
    ...["verify_start", "verify_success", "card_added"] as const,
  ];
  for (const step of session.user_id ? [] : steps) {
    service.advanceUser(userId, step, place);
  }
  const { commodity_amount: cryptoAmount } = session;
  return service.createOrder({
    ...{ ...place, userId, commodity, network, address, scInputData },
    currency: session.currency ?? "USD",
    ...(isLocked && cryptoAmount && !session.currency_amount
      ? { cryptoAmount }
      : { currencyAmount }),
    cryptoType: scInputData ? "sc" : "simple",
    scAddress: scInputData ? options.sc_address ?? null : null,
  });
}

/** What the user sees first, and the ways in which the payment can end. */
function checkout(
  service: Service,
  { session, isLocked, purchase }: Visit,
): string {
  const choices = [purchase, ...assets[service.assets]]
    .map(({ commodity, network }) => `${commodity} ${network}`);
  const reasons = failReasons
    .map((code) => `${code} ${describeFailReason(code)}`);
  const select = (id: string, texts: readonly string[], more = "") => {
    const options = new Set(texts.map((text) => `<option>${escapeHtml(text)}`));
    return `<select id="${id}"${more}>${[...options].join("")}</select>`;
  };
  const input = (id: string, value: string) =>
    `<input id="${id}" value="${escapeHtml(value)}"${
      isLocked ? " readonly" : ""
    }>`;
  const asset = select("asset", choices, isLocked ? " disabled" : "");
  return `<section id="checkout">
<label>You pay, ${session.currency ?? "USD"}${
    input("amount", purchase.currencyAmount)
  }</label><label>Asset${asset}</label>
<label>To this wallet${input("address", purchase.address)}</label>
<button id="pay" class="primary">Pay</button></section>
<section id="order" hidden><p id="detail"></p>
<div id="decide"><label>Reason, if it fails${select("reason", reasons)}</label>
<button id="fail">Fail</button> <button id="cancel">Cancel</button>
<button id="continue" class="primary">Let it go through</button></div></section>`;
}

function widgetPage(body: string, data: Fields): Response {
  return htmlPage({
    ...{ title: "Sandbox checkout", style: STYLE, script: SCRIPT, data },
    frameAncestors: "*",
    body:
      `<main id="card"><button id="close" aria-label="Close">&times;</button>
<h1>Sandbox checkout</h1><p id="headline" role="status">${
        data.refused ? "The widget cannot open" : ""
      }</p>${body}<p id="problem" class="bad" role="alert">${data.why ?? ""}</p>
<button id="done" class="primary"${
        data.refused ? "" : " hidden"
      }>Close</button></main>`,
  });
}

const STYLE = `
:root { --brand: #0b7a75; color-scheme: light; } :root[data-theme="dark"] { color-scheme: dark; }
[hidden] { display: none !important; } body { font: 15px/1.5 system-ui, sans-serif; background: rgba(16, 20, 28, .45); }
#card { max-width: 420px; margin: 10vh auto; padding: 20px; border-radius: 18px; background: Canvas; color: CanvasText; }
h1 { font-size: 17px; margin: 0; } #close { float: right; } label { display: block; margin: 12px 0; }
input, select, .primary { font: inherit; width: 100%; min-height: 44px; box-sizing: border-box; }
.primary { background: var(--brand); color: oklch(from var(--brand) clamp(0, (0.65 - l) * 1000, 1) 0 0); border: 0; border-radius: 12px; margin-top: 12px; }
#headline { font-size: 20px; } #detail { overflow-wrap: anywhere; }
.bad { color: light-dark(#b3261e, #ff8a80); } .good { color: light-dark(#14733b, #6fd39b); }
`;

/** Sends the messages of the official SDK, and moves the order of the visit. */
const SCRIPT = `
const at = (id) => document.getElementById(id);
const visit = JSON.parse(at("data").textContent);
const say = (type, data) => parent.postMessage({ type, ...(data && { data }) }, "*");
function dress(look) {
  if ("theme" in look) document.documentElement.dataset.theme = look.theme === "dark" ? "dark" : "light";
  if (look.brand_color) document.documentElement.style.setProperty("--brand", look.brand_color);
}
function chosen() {
  const [commodity, network] = at("asset").value.split(" ");
  return { commodity, network, currencyAmount: at("amount").value.trim(), address: at("address").value.trim() };
}
addEventListener("message", ({ source, data: message }) => {
  if (source !== parent) return;
  const { type, data } = message ?? {};
  if (type === "theme" && data) dress(data);
  if (type !== "extra" || visit.isLocked !== false) return;
  const wallet = data?.wallets?.find((one) => one.network === chosen().network);
  if (wallet) at("address").value = wallet.address;
});
const SAID = {
  progress: ["pending", "Payment in progress"], pending: ["pending", "Payment received"], success: ["success", "Done", "good"],
  failed: ["failed", "Payment failed", "bad"], cancelled: ["canceled", "Order cancelled", "bad"],
};
let last;
async function move(step) {
  const body = JSON.stringify({ token: visit.token, step, ...chosen(), failReason: at("reason").value.split(" ")[0] });
  const response = await fetch(location.pathname + "/steps", { method: "POST", body });
  const order = await response.json();
  if (!response.ok) throw new Error(order.error);
  const { status, orderId: order_id, externalOrderId: external_order_id, txId: tx_id } = order;
  const [said, textContent, className = ""] = SAID[status];
  Object.assign(at("headline"), { textContent, className });
  at("detail").textContent = "Order " + external_order_id + ": " + order.cryptoAmount + " " + order.commodity + " for " +
    order.currencyAmount + " " + order.currency + (tx_id && ", sent in " + tx_id) + (order.failReason && ", error " + order.failReason);
  if (status !== last) say("payment-status", { status: said, payment_id: order_id, order_id, external_order_id, ...(tx_id && { tx_id }) });
  last = status;
  at("checkout").hidden = true;
  at("order").hidden = false;
  at("decide").hidden = step !== "pay";
  at("done").hidden = !className;
  if (step === "pay" || className) say("position", { step: className ? "result" : "payment" });
}
at("close").onclick = at("done").onclick = () => say("close");
dress({ theme: visit.theme, brand_color: visit.brandColor });
say("loaded");
if (visit.refused) say("error", { name: "session_" + visit.refused, message: visit.why });
else {
  const steps = { pay: ["pay"], fail: ["fail"], cancel: ["cancel"], continue: ["authorise", "transfer", "complete"] };
  for (const [button, taken] of Object.entries(steps)) at(button).onclick = async () => {
    at("problem").textContent = "";
    try {
      for (const step of taken) await move(step);
    } catch ({ message }) {
      say("error", { name: "sandbox", message });
      at("problem").textContent = message;
    }
  };
  say("position", { step: "checkout" });
  say("rate-update", visit.rate);
}
`;
