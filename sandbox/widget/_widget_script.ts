/**
 * The stub widget's script in the page: it sends the messages of the
 * official SDK and moves its order through the steps route.
 */
export const WIDGET_SCRIPT = `
const visit = JSON.parse(document.getElementById("visit").textContent);
const at = (id) => document.getElementById(id);
const root = document.documentElement;

function say(type, data) {
  window.parent.postMessage(data === undefined ? { type } : { type, data }, "*");
}
function dress(theme, brandColor) {
  if (theme) root.dataset.theme = theme;
  if (/^#[0-9a-f]{3,8}$/i.test(brandColor ?? "")) {
    root.style.setProperty("--brand", brandColor);
    root.style.setProperty("--on-brand", isLight(brandColor) ? "#14181f" : "#fff");
  }
}
function isLight(hex) {
  const full = hex.length < 6 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(full.slice(i, i + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 160;
}

window.addEventListener("message", (event) => {
  if (event.source !== window.parent || typeof event.data !== "object") return;
  const { type, data } = event.data ?? {};
  if (type === "theme" && data) {
    const theme = data.theme === "dark" ? "dark" : "light";
    dress("theme" in data ? theme : null, data.brand_color);
  }
  if (type === "extra") {
    const network = at("network")?.textContent;
    const wallet = data?.wallets?.find((one) => one.network === network);
    if (wallet && !visit.locked) at("address").value = wallet.address;
  }
});

dress(visit.theme, visit.brandColor);
at("close").onclick = () => say("close");
at("done").onclick = () => say("close");
say("loaded");
if (visit.refused) say("error", { name: "session_" + visit.refused, message: visit.why });
else start();

function start() {
  const select = at("asset");
  visit.assets.forEach((asset, i) => {
    const own = asset.commodity.toUpperCase() === visit.commodity.toUpperCase() &&
      asset.network === visit.network;
    select.add(new Option(asset.commodity + " · " + asset.network, i, own, own));
  });
  at("amount").value = visit.currencyAmount;
  at("currency").textContent = visit.currency;
  at("address").value = visit.address;
  at("amount").readOnly = at("address").readOnly = visit.locked;
  select.disabled = visit.locked;
  at("amount").oninput = select.onchange = quote;
  at("pay").onclick = pay;
  at("fail").onclick = () => finish("fail", { failReason: at("reason").value });
  at("cancel").onclick = () => finish("cancel", {});
  at("continue").onclick = goThrough;
  quote();
  say("position", { step: "checkout" });
}
function chosen() {
  return visit.assets[Number(at("asset").value)] ?? visit.assets[0];
}
function quote() {
  const asset = chosen();
  const paid = at("amount").value;
  const units = times(paid, asset.perDollar, asset.decimals);
  at("receives").textContent = units ?? "–";
  at("network").textContent = asset.network;
  at("fee").textContent = (times(paid, "0.05", 2) ?? "–") + " " + visit.currency;
  at("pay").textContent = "Pay " + paid + " " + visit.currency;
  at("pay").disabled = units === null;
  if (units === null) return;
  say("rate-update", {
    ticker: asset.commodity + visit.currency,
    fee_percent: "5",
    currency_amount: paid,
    fee_amount: times(paid, "0.05", 2),
    commodity_amount: units,
    purchase_amount: paid,
    miner_fee: "0",
    currency_miner_fee: "0",
  });
}
// Exact: an amount shown to a person is not to be off by a float either.
function times(a, b, decimals) {
  const parse = (text) => /^(\\d+)(?:\\.(\\d{0,18}))?$/.exec(text.trim());
  const [x, y] = [parse(a), parse(b)];
  if (!x || !y) return null;
  const units = (m) => BigInt(m[1] + (m[2] ?? ""));
  const places = (x[2] ?? "").length + (y[2] ?? "").length;
  const product = units(x) * units(y) * 10n ** BigInt(decimals) / 10n ** BigInt(places);
  if (product === 0n) return null;
  const digits = product.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return rest ? whole + "." + rest : whole;
}

async function ask(step, more) {
  const response = await fetch(visit.steps, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: visit.token, step, ...more }),
  });
  const body = await response.json();
  if (response.ok) return body;
  say("error", { name: "sandbox", message: body.error });
  throw new Error(body.error);
}
const SAID = { success: "success", failed: "failed", cancelled: "canceled" };
function tell(order) {
  say("payment-status", {
    status: SAID[order.status] ?? "pending",
    payment_id: order.orderId,
    order_id: order.orderId,
    external_order_id: order.externalOrderId,
    ...(order.txId && { tx_id: order.txId }),
  });
}
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function pay() {
  at("pay").disabled = true;
  const { commodity, network } = chosen();
  try {
    const order = await ask("pay", {
      commodity, network,
      currencyAmount: at("amount").value.trim(),
      address: at("address").value.trim(),
    });
    say("3ds-start");
    at("checkout").hidden = true;
    at("order").hidden = false;
    show(order, "Payment in progress", "Order " + order.externalOrderId +
      ". Choose how it ends.", ["progress"]);
    say("position", { step: "payment" });
    tell(order);
  } catch (error) {
    at("pay").disabled = false;
    at("pay").textContent = error.message;
  }
}
async function goThrough() {
  at("decide").hidden = true;
  say("3ds-end");
  let order = await ask("authorise");
  show(order, "Payment received", "The asset is not sent yet.", ["progress", "pending"]);
  tell(order);
  await wait(900);
  order = await ask("transfer");
  show(order, "Sending", order.txId, ["progress", "pending", "transfer"]);
  await wait(900);
  order = await ask("complete");
  show(order, "Done", order.cryptoAmount + " " + order.commodity + " sent in " +
    order.txId, ["progress", "pending", "transfer", "success"], "good");
  end(order);
}
async function finish(step, more) {
  at("decide").hidden = true;
  say("3ds-end");
  const order = await ask(step, more);
  const failed = order.status === "failed";
  show(order, failed ? "Payment failed" : "Order cancelled", failed
    ? at("reason").selectedOptions[0].textContent
    : "The payment was processed and the order cancelled after it.",
    ["progress"], "bad");
  end(order);
}
function end(order) {
  tell(order);
  at("done").hidden = false;
  at("done").focus();
  say("position", { step: "result" });
}
function show(order, headline, detail, past, mood = "") {
  at("headline").textContent = headline;
  at("headline").className = mood;
  at("detail").textContent = detail;
  for (const item of document.querySelectorAll("#stepper li")) {
    item.classList.toggle("past", past.includes(item.dataset.step));
  }
}
`;
