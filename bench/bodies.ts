const statuses = ["created", "progress", "pending", "success"];

/** The body of an order webhook, as the service documents it. */
export function webhookBody(order: number, type: string): string {
  return JSON.stringify({
    type,
    click_id: `6f9619ff-8b86-4011-b42d-${digits(order, 12)}`,
    hpp_session_id: `5f0c6a0e-43c5-4a55-9b0a-${digits(order, 12)}`,
    order: {
      id: orderId(order),
      base: "POL",
      base_amount: "0.212345678901234567",
      quote: "USD",
      quote_amount: "5.00",
      address: "0x0118E8e2FCb391bCeb110F62b5B7B963477C1E0d",
      transaction_id: type === "order_complete" ? txId(order) : null,
      external_order_id: `X${order}`,
    },
    user: {
      user_id: userId(order),
      verification_status: {
        fkyc: { state: "success" },
        lkyc: { state: "success" },
      },
    },
  });
}

/** When an order was created and changed last, milliseconds since 1970. */
export interface OrderTimes {
  readonly createdMs: number;
  readonly changedMs: number;
}

/** An order of the Data API, as the service writes it. */
export function orderBody(
  order: number,
  step: number,
  { createdMs, changedMs }: OrderTimes = timesOf(step),
): string {
  const status = statuses[step] ?? "success";
  return `{"order_id":"${orderId(order)}",` +
    `"click_id":"6f9619ff-8b86-4011-b42d-${digits(order, 12)}",` +
    `"external_order_id":"X${order}","currency":"usd",` +
    `"currency_amount":5,"crypto":"pol.simple.amoy",` +
    `"crypto_amount":0.212345678901234567,"user_id":"${userId(order)}",` +
    `"status":"${status}","card_id":"01JD2222222222222222222222",` +
    `"created_at":"${serviceTime(createdMs)}",` +
    `"changed_at":"${serviceTime(changedMs)}","partner_fee":1.25,` +
    `"partner_fee_percent":0.01,"service_fee":4,"service_fee_percent":0.04,` +
    `"tx_id":"${status === "success" ? txId(order) : ""}",` +
    `"processed_through":"acquirer","card_brand":"VISA","fail_reason":"",` +
    `"payment_type":"3ds_v2","additional_data":null,` +
    `"address":"0x0118E8e2FCb391bCeb110F62b5B7B963477C1E0d",` +
    `"sc_input_data":""}`;
}

/** Assets of {@linkcode mixedOrderBody}: one order in ten has the last one. */
const ASSETS = [
  ...new Array<string>(5).fill("pol.simple.polygon"),
  ...new Array<string>(4).fill("usdc.simple.base"),
  "btc.simple.bitcoin",
];

/**
 * The same of a shop that has been open for long: one order in a thousand has
 * not ended, one in thirty has failed, amounts, assets and currencies differ.
 */
export function mixedOrderBody(order: number, times: OrderTimes): string {
  const isOpen = order % 1_000 === 7;
  const isFailed = order % 30 === 11;
  const step = isOpen ? Math.floor(order / 1_000) % 3 : isFailed ? 2 : 3;
  // Digits of a product part what remainders of one number would join.
  const mixed = (order * 7_919) % 1_009;
  const body = orderBody(order, step, times)
    .replace('"currency_amount":5,', `"currency_amount":${5 + mixed / 4},`)
    .replace("pol.simple.amoy", ASSETS[mixed % ASSETS.length] ?? "")
    .replace('"usd"', mixed % 4 === 0 ? '"eur"' : '"usd"');
  return isFailed && !isOpen
    ? body.replace('"status":"pending"', '"status":"failed"')
    : body;
}

/** An order of the Data API in its earlier form, which ends sooner. */
export function earlierOrderBody(order: number, step: number): string {
  const current = orderBody(order, step);
  const external = /"external_order_id":"[^"]*",/;
  const whole = current.slice(0, current.indexOf(',"tx_id":')) + "}";
  return whole.replace(external, "");
}

/** Identifier of an order. */
export function orderId(order: number): string {
  return `01JDRD${digits(order, 20)}`;
}

function timesOf(step: number): OrderTimes {
  const createdMs = Date.UTC(2026, 0, 1, 10);
  return { createdMs, changedMs: createdMs + step * 7_000 };
}

function serviceTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}

/** Identifier of the user of an order: each has five. */
export function userId(order: number): string {
  return `01JDSR${digits(Math.floor(order / 5), 20)}`;
}

function txId(order: number): string {
  return `0x${order.toString(16).padStart(64, "0")}`;
}

/** `number` with leading zeros. */
export function digits(number: number, length: number): string {
  return String(number).padStart(length, "0");
}
