/**
 * One start for a whole program, which ends on a signal: sells, is paid, takes
 * the webhook and ships; then it says so and waits.
 */
import { createSandbox } from "@rampkit/onramp/sandbox";
import { startOnramp } from "@rampkit/onramp/start";
import process from "node:process";

const secret = "the-secret-in-the-webhook-address";
const name = process.argv[2];
const sandbox = createSandbox();
const onramp = await startOnramp({
  databaseUrl: `file:${name}.db`,
  // Set where a bundler has put the module of the database's thread.
  threadModule: process.env.THREAD_MODULE,
  environment: "sandbox",
  apiKey: sandbox.apiKey,
  webhookSecrets: secret,
  requestsPerSecond: 1000,
  fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  on: {
    "order.release.yes": (_, { reference, release }) => {
      if (release === "yes") console.log(`shipped ${reference}`);
    },
  },
  onProblem: ({ code }) => console.log(`told ${code}`),
  stopOn: ["SIGTERM"],
});
const { port } = await onramp.listen({ port: 0 });
const { sessionId, clickId } = await onramp.sell({
  reference: "basket-1",
  currency: "USD",
  amount: "49.90",
  asset: "ETH",
  network: "sepolia",
});
const { orderId } = sandbox.createOrder({
  sessionId,
  clickId,
  currencyAmount: "49.90",
});
for (const step of ["pay", "authorise", "complete"]) {
  sandbox.advance(orderId, step);
}
const { status } = await fetch(`http://127.0.0.1:${port}/webhooks/${secret}`, {
  method: "POST",
  body: JSON.stringify({ type: "order_complete", order: { id: orderId } }),
});
console.log(`answered ${status}`);
