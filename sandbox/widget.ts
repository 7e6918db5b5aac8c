import { Hono } from "hono";
import { assets } from "../core/assets/assets.ts";
import { describeFailReason, failReasons } from "../core/assets/fail_reason.ts";
import { decimalOfUnits } from "../core/decimal.ts";
import { isRecord, messageOf } from "../core/guards.ts";
import { isWalletAddress } from "../core/rules/wallet_address.ts";
import { answer, escapeHtml, htmlPage } from "./answer.ts";
import {
  addressOf,
  centsFor,
  marketOf,
  marketsOf,
  unitsFor,
  unitsOf,
} from "./factory.ts";
import type { OrderStep, SandboxOrder } from "./orders.ts";
import type { Service } from "./service.ts";
import type { WidgetSession } from "./sessions.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What the user is to buy, and where it goes. */
type Purchase = Record<
  "commodity" | "network" | "currencyAmount" | "address",
  string
>;

/** One opening of the widget. */
interface Visit {
  readonly session: WidgetSession;
  readonly isLocked: boolean;
  readonly clickId: string;
  readonly options: URLSearchParams;
  readonly preset: Purchase;
  orderId: string | null;
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
  app.get("/", (context) => {
    const options = new URL(context.req.url).searchParams;
    const option = (name: string) => options.get(name) ?? "";
    const clickId = option("click_id");
    const session = service.sessions.open(option("session_id"), clickId);
    const look = {
      theme: option("theme") === "dark" ? "dark" : "light",
      brandColor: /^#[0-9a-f]{3,8}$/i.exec(option("brand_color"))?.[0] ?? null,
    };
    if (typeof session === "string") {
      return widgetPage({ refused: session, why: REFUSALS[session], ...look });
    }
    const isLocked = session.flowType === "simple_full_restrict";
    const preset = presetOf(service, session, isLocked ? null : options);
    const token = service.factory.uuid();
    const visit = {
      session,
      isLocked,
      clickId,
      options,
      preset,
      orderId: null,
    };
    visits.set(token, visit);
    return widgetPage({
      ...{ token, ...look, locked: isLocked },
      steps: `/${service.partnerId}/widget/steps`,
      currency: session.currency ?? "USD",
      ...preset,
      assets: assets[service.assets],
    });
  });
  app.post("/steps", async (context) => {
    const body: unknown = await context.req.json().catch(() => null);
    const fields: Fields = isRecord(body) ? body : {};
    const visit = visits.get(String(fields.token));
    if (!visit) return answer(403, { error: "This visit is over" });
    try {
      return answer(200, take(service, visit, fields));
    } catch (error) {
      return answer(400, { error: messageOf(error) });
    }
  });
  return app;
}

/** The asset, amount and wallet from the session, the options or our presets. */
function presetOf(
  { assets }: Service,
  session: WidgetSession,
  options: URLSearchParams | null,
): Purchase {
  const [first] = marketsOf(assets);
  const option = (name: string) => options?.get(name) ?? null;
  const commodity = session.commodity ?? option("commodity") ??
    first?.commodity ?? "";
  const network = session.network ?? option("network") ?? first?.network ?? "";
  const market = marketOf(assets, commodity, network);
  const bought = session.commodityAmount ?? option("commodity_amount");
  const cost = bought &&
    decimalOfUnits(centsFor(market, unitsOf(bought, market.decimals)), 2);
  return {
    ...{ commodity, network },
    currencyAmount: session.currencyAmount ?? option("currency_amount") ??
      cost ?? "25",
    address: session.walletAddress ?? option("address") ??
      addressOf(network, "5a".repeat(20)),
  };
}

/** Quotes, pays, or lets the order of a visit take a step. */
function take(
  service: Service,
  visit: Visit,
  { step, failReason, ...fields }: Fields,
): unknown {
  if (step === "quote") return quote(service, fields);
  if (step === "pay") {
    visit.orderId = pay(service, visit, fields).orderId;
    return service.advance(visit.orderId, "pay");
  }
  if (visit.orderId === null) throw new RangeError("Cannot move: pay first");
  const facts = typeof failReason === "string" ? { failReason } : {};
  return service.advance(visit.orderId, step as OrderStep, facts);
}

/** What an amount buys, and the fee of five percent in it. */
function quote({ assets }: Service, fields: Fields): unknown {
  const { commodity, network, currencyAmount } = fields;
  const market = marketOf(assets, String(commodity), String(network));
  const cents = unitsOf(String(currencyAmount), 2);
  if (cents <= 0n) throw new RangeError("Cannot quote: pay more than nothing");
  return {
    units: decimalOfUnits(unitsFor(market, cents), market.decimals),
    fee: decimalOfUnits(cents / 20n, 2),
  };
}

function pay(service: Service, visit: Visit, fields: Fields): SandboxOrder {
  const { session, isLocked, clickId, options, preset } = visit;
  const own = (name: keyof Purchase) =>
    !isLocked && typeof fields[name] === "string" && fields[name] ||
    preset[name];
  const network = own("network");
  const address = own("address");
  if (isWalletAddress(network, address) === false) {
    throw new RangeError(
      `Cannot pay: "${address}" is not an address of ${network}`,
    );
  }
  const scInputData = options.get("sc_input_data");
  // NFT Checkout has no session, neither for the order nor for its user.
  const place = { clickId, sessionId: scInputData ? null : session.sessionId };
  const { commodityAmount: cryptoAmount } = session;
  return service.createOrder({
    ...place,
    userId: session.userId ?? newUser(service, place),
    currency: session.currency ?? "USD",
    ...(isLocked && cryptoAmount !== null && session.currencyAmount === null
      ? { cryptoAmount }
      : { currencyAmount: own("currencyAmount") }),
    ...{ commodity: own("commodity"), network, address, scInputData },
    cryptoType: scInputData ? "sc" : "simple",
    scAddress: scInputData ? options.get("sc_address") : null,
  });
}

/** A new user who confirms a phone, registers, is verified and saves a card. */
function newUser(
  service: Service,
  place: { clickId: string; sessionId: string | null },
): string {
  const { userId } = service.createUser();
  for (
    const step of [
      ...["otp_requested", "otp_success", "registration"] as const,
      ...["verify_start", "verify_success", "card_added"] as const,
    ]
  ) service.advanceUser(userId, step, place);
  return userId;
}

function widgetPage(data: Fields): Response {
  const reasons = failReasons.map((code) =>
    `<option value="${code}">${code} ${
      escapeHtml(describeFailReason(code) ?? "")
    }`
  );
  const body = data.refused
    ? `<p id="headline" class="bad" role="alert">The widget cannot open</p><p id="detail">${
      escapeHtml(String(data.why))
    }</p>`
    : `<section id="checkout">
  <label>You pay, <span id="currency"></span> <input id="amount" inputmode="decimal" autocomplete="off"></label>
  <label>Asset <select id="asset"></select></label>
  <p>You receive <output id="receives"></output> on <span id="network"></span>; fees <span id="fee"></span></p>
  <label>To this wallet <input id="address" spellcheck="false" autocomplete="off"></label>
  <button id="pay" class="primary">Pay</button>
</section>
<section id="order" hidden>
  <p id="headline" role="status"></p><p id="detail"></p>
  <div id="decide"><label>Reason, if it fails <select id="reason">${
      reasons.join("")
    }</select></label>
    <button id="fail">Fail</button> <button id="cancel">Cancel</button>
    <button id="continue" class="primary">Let it go through</button></div>
</section>`;
  return htmlPage({
    ...{ title: "Sandbox checkout", style: STYLE, script: SCRIPT, data },
    frameAncestors: "*",
    body: `<main id="card">
<header><h1>Sandbox checkout</h1> no real money <button id="close" aria-label="Close">&times;</button></header>
${body}
<button id="done" class="primary"${data.refused ? "" : " hidden"}>Close</button>
</main>`,
  });
}

const STYLE = `
:root { --brand: #0b7a75; color-scheme: light; } :root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; } [hidden] { display: none !important; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0; padding: 16px; background: rgba(16, 20, 28, .45); }
#card { max-width: 420px; margin: 10vh auto; padding: 20px; border-radius: 18px; background: Canvas; color: CanvasText; }
h1 { font-size: 17px; display: inline; } #close { float: right; } label { display: block; margin: 12px 0; }
input, select, button { font: inherit; width: 100%; min-height: 44px; } header button, #fail, #cancel { width: auto; }
.primary { background: var(--brand); border: 0; border-radius: 12px; margin-top: 12px; }
.primary { color: oklch(from var(--brand) clamp(0, (0.65 - l) * 1000, 1) 0 0); }
#headline { font-size: 20px; } #detail { overflow-wrap: anywhere; }
.bad { color: light-dark(#b3261e, #ff8a80); } .good { color: light-dark(#14733b, #6fd39b); }
`;

/** Sends the messages of the official SDK, and moves the order of the visit. */
const SCRIPT = `
const visit = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const root = document.documentElement;
const say = (type, data) => parent.postMessage({ type, ...(data && { data }) }, "*");
function dress(theme, color) {
  if (theme) root.dataset.theme = theme;
  if (/^#[0-9a-f]{3,8}$/i.test(color ?? "")) root.style.setProperty("--brand", color);
}
addEventListener("message", ({ source, data: message }) => {
  if (source !== parent) return;
  const { type, data } = message ?? {};
  if (type === "theme" && data) dress("theme" in data ? (data.theme === "dark" ? "dark" : "light") : null, data.brand_color);
  if (type === "extra" && !visit.locked && at("address")) {
    const wallet = data?.wallets?.find((one) => one.network === chosen().network);
    if (wallet) at("address").value = wallet.address;
  }
});
dress(visit.theme, visit.brandColor);
at("close").onclick = at("done").onclick = () => say("close");
function start() {
  visit.assets.forEach(({ commodity, network }, i) => {
    const isOwn = commodity.toUpperCase() === visit.commodity.toUpperCase() && network === visit.network;
    at("asset").add(new Option(commodity + " · " + network, i, isOwn, isOwn));
  });
  at("amount").value = visit.currencyAmount;
  at("currency").textContent = visit.currency;
  at("address").value = visit.address;
  at("amount").readOnly = at("address").readOnly = at("asset").disabled = visit.locked;
  at("amount").oninput = at("asset").onchange = quote;
  at("pay").onclick = pay;
  at("fail").onclick = () => finish("fail", { failReason: at("reason").value });
  at("cancel").onclick = () => finish("cancel");
  at("continue").onclick = goThrough;
  say("position", { step: "checkout" });
  quote();
}
function chosen() {
  const { commodity, network } = visit.assets[at("asset").value] ?? visit;
  return { commodity, network, currencyAmount: at("amount").value.trim() };
}
async function ask(step, more) {
  const response = await fetch(visit.steps, { method: "POST", body: JSON.stringify({ token: visit.token, step, ...more }) });
  const body = await response.json();
  if (!response.ok) throw new Error(body.error);
  return body;
}
async function quote() {
  const asked = chosen();
  const { commodity, network, currencyAmount: paid } = asked;
  const quoted = await ask("quote", asked).catch(() => null);
  if (paid !== chosen().currencyAmount) return;
  at("receives").textContent = quoted ? quoted.units + " " + commodity : "–";
  at("network").textContent = network;
  at("fee").textContent = (quoted?.fee ?? "–") + " " + visit.currency;
  at("pay").disabled = quoted === null;
  if (quoted) say("rate-update", {
    ticker: commodity + visit.currency, fee_percent: "5", currency_amount: paid, fee_amount: quoted.fee,
    commodity_amount: quoted.units, purchase_amount: paid, miner_fee: "0", currency_miner_fee: "0",
  });
}
function show(headline, detail, className = "") {
  Object.assign(at("headline"), { textContent: headline, className });
  at("detail").textContent = detail;
}
function tell({ status, orderId: order_id, externalOrderId: external_order_id, txId: tx_id }) {
  const said = { success: "success", failed: "failed", cancelled: "canceled" }[status] ?? "pending";
  say("payment-status", { status: said, payment_id: order_id, order_id, external_order_id, ...(tx_id && { tx_id }) });
}
async function pay() {
  at("pay").disabled = true;
  try {
    const order = await ask("pay", { ...chosen(), address: at("address").value.trim() });
    at("checkout").hidden = true;
    at("order").hidden = false;
    say("position", { step: "payment" });
    show("Payment in progress", "Order " + order.externalOrderId + ". Choose how it ends.");
    tell(order);
  } catch (error) {
    say("error", { name: "sandbox", message: error.message });
    at("pay").disabled = false;
    at("pay").textContent = error.message;
  }
}
const wait = () => new Promise((resolve) => setTimeout(resolve, 900));
async function goThrough() {
  at("decide").hidden = true;
  tell(await ask("authorise"));
  show("Payment received", "The asset is not sent yet.");
  await wait();
  show("Sending", (await ask("transfer")).txId);
  await wait();
  const order = await ask("complete");
  end(order, "Done", order.cryptoAmount + " " + order.commodity + " sent in " + order.txId, "good");
}
async function finish(step, more) {
  at("decide").hidden = true;
  const order = await ask(step, more);
  if (step === "fail") end(order, "Payment failed", at("reason").selectedOptions[0].textContent, "bad");
  else end(order, "Order cancelled", "The payment was processed and the order cancelled after it.", "bad");
}
function end(order, ...words) {
  show(...words);
  tell(order);
  at("done").hidden = false;
  at("done").focus();
  say("position", { step: "result" });
}
say("loaded");
if (visit.refused) say("error", { name: "session_" + visit.refused, message: visit.why });
else start();
`;
