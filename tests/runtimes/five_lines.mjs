import { OnrampClient, webhookEndpoint } from "@rampkit/onramp";
import { openLedger } from "@rampkit/onramp/ledger";
import { createPoller } from "@rampkit/onramp/sync";
import { createSandbox } from "@rampkit/onramp/sandbox";

// The service, in a box: an order that was paid, and what it says of it.
const sandbox = createSandbox();
const { orderId } = sandbox.createOrder();
for (const step of ["pay", "authorise", "complete"]) {
  sandbox.advance(orderId, step);
}
const client = new OnrampClient({
  environment: "sandbox",
  apiKey: sandbox.apiKey,
  fetch: (input, init) => sandbox.fetch(new Request(input, init)),
});
const delivery = new Request(
  "https://partner.example/webhooks/the-long-secret",
  {
    method: "POST",
    body:
      `{"type":"order_complete","click_id":"c","order":{"id":"${orderId}"}}`,
  },
);

const ledger = await openLedger({
  url: "file:five.db",
  environment: "sandbox",
});
const endpoint = webhookEndpoint({
  append: ledger.appendDelivery,
  secrets: ["the-long-secret"],
});
await endpoint(delivery);
await createPoller({ ledger, client }).once();
console.log(JSON.stringify(await ledger.orders.get(orderId)));

await ledger.close();
await sandbox.close();
