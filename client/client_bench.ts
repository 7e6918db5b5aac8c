// Reading pages of 20 orders over HTTP: the client, with validation and exact
// numbers, beside a bare fetch with JSON.parse, which gets amounts wrong.
import { OnrampClient } from "./client.ts";
import { parseExact } from "./exact_json.ts";

const order = (at: number): string =>
  JSON.stringify({
    order_id: `01JD0000000000000000000${100 + at}`,
    click_id: "6f9619ff-8b86-4011-b42d-00cf4fc964ff",
    external_order_id: "A1B2C3",
    currency: "usd",
    currency_amount: 0,
    crypto: "pol.simple.polygon",
    crypto_amount: 1,
    user_id: "01JD1111111111111111111111",
    status: "success",
    card_id: "01JD2222222222222222222222",
    created_at: "2026-01-01 10:00:00",
    changed_at: "2026-01-01 10:05:00",
    partner_fee: 1.25,
    partner_fee_percent: 0.01,
    service_fee: 4,
    service_fee_percent: 0.04,
    tx_id: `0x${"5f0c0a1b2c3d4e5f".repeat(4)}`,
    processed_through: "acquirer",
    card_brand: "VISA",
    fail_reason: "",
    payment_type: "3ds_v2",
    additional_data: null,
    address: `0x${"0123456789".repeat(4)}`,
    sc_input_data: "",
  })
    .replace('"currency_amount":0', '"currency_amount":100.50')
    .replace('"crypto_amount":1', '"crypto_amount":123.456789012345678901');

const page = `{"success":true,"data":[${
  Array.from({ length: 20 }, (_, at) => order(at)).join(",")
}],"next_cursor_id":"01JD3333333333333333333333","total":4000}`;

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: () => {} },
  () => new Response(page, { headers: { "content-type": "application/json" } }),
);
server.unref();
const url = `http://127.0.0.1:${server.addr.port}`;
const client = new OnrampClient({
  environment: {
    name: "bench",
    baseUrl: url,
    cardsBaseUrl: url,
    widgetOrigin: url,
    dashboardUrl: url,
  },
  apiKey: "key",
  requestsPerSecond: 1e9,
});
const address = `${url}/api/external/orders?limit=20`;

Deno.bench(
  "fetch + JSON.parse",
  { group: "page", baseline: true },
  async () => {
    const response = await fetch(address, { headers: { "x-api-key": "key" } });
    JSON.parse(await response.text());
  },
);

Deno.bench("client.orders.page", { group: "page" }, async () => {
  await client.orders.page({ limit: 20 });
});

Deno.bench("JSON.parse", { group: "parse", baseline: true }, () => {
  JSON.parse(page);
});

Deno.bench("parseExact", { group: "parse" }, () => {
  parseExact(page);
});
