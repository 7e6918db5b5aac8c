import { Hono } from "hono";
import { answer, type Parts } from "./_app.ts";
import type { OrderInput, UserInput } from "./_maker.ts";
import { controlPage } from "./_control_page.ts";
import { isObject } from "./_exact_json.ts";
import { nextSteps, type OrderStep, type StepFacts } from "./order_life.ts";
import type { DisableRule } from "./ladder.ts";
import type { SandboxOrder } from "./sandbox_order.ts";
import type { TriggerInput } from "./deliveries.ts";
import type { UserStep } from "./user_life.ts";
import { VirtualClock } from "./virtual_clock.ts";

/** How many rows a list of the state holds. */
const SHOWN = 50;

type Fields = Record<string, unknown>;

/** The control API and its page, under /control. */
export function controlRoutes(parts: Parts): Hono {
  const { sandbox } = parts;
  const app = new Hono();
  const act = (run: (fields: Fields, id: string) => unknown) =>
  async (
    context: { req: { raw: Request; param(name: string): string | undefined } },
  ) => {
    const fields = await readFields(context.req.raw);
    return reply(await run(fields, context.req.param("id") ?? ""));
  };

  app.use(async (context, next) => {
    const { method, url, headers } = context.req.raw;
    // A page from elsewhere must not reach a sandbox on this machine.
    const origin = headers.get("origin");
    if (method !== "GET" && origin !== null && origin !== new URL(url).origin) {
      return answer(403, { error: "Cross-origin control is refused" });
    }
    return await next();
  });
  app.onError((error) =>
    answer(
      error instanceof TypeError || error instanceof RangeError ? 400 : 500,
      { error: error.message },
    )
  );
  app.get("/", () => controlPage(sandbox.partnerId));
  app.get("/state", () => reply(state(parts)));
  app.get("/truth", () => reply(sandbox.truth()));
  app.get("/counters", () => reply(sandbox.counters));
  app.get("/deliveries", () => reply(sandbox.deliveries()));

  app.get("/orders", () => reply(sandbox.orders()));
  app.get("/orders/:id", (context) => {
    const order = sandbox.order(context.req.param("id"));
    return order ? reply(order) : answer(404, { error: "No such order" });
  });
  app.post("/orders", act((fields) => sandbox.createOrder(orderInput(fields))));
  app.post(
    "/orders/:id/steps",
    act(({ step, ...facts }, id) =>
      sandbox.advance(id, step as OrderStep, stepFacts(facts))
    ),
  );
  app.patch(
    "/orders/:id",
    act((fields, id) => sandbox.amendOrder(id, orderInput(fields))),
  );

  app.delete(
    "/orders/:id",
    act((_fields, id) => {
      sandbox.removeOrder(id);
      return { removed: id };
    }),
  );

  app.get("/users", () => reply(sandbox.users()));
  app.post("/users", act((fields) => sandbox.createUser(userInput(fields))));
  app.post(
    "/users/:id/steps",
    act(({ step }, id) => sandbox.advanceUser(id, step as UserStep)),
  );
  app.patch(
    "/users/:id",
    act((fields, id) => sandbox.amendUser(id, userInput(fields))),
  );

  app.post(
    "/events",
    act((fields) => {
      sandbox.trigger(triggerInput(fields));
      return { sent: true };
    }),
  );
  app.post("/test", act(() => sandbox.pressTest()));
  app.patch("/delivery", act((fields) => setDelivery(parts, fields)));
  app.get("/faults", () => reply(sandbox.faults));
  app.patch(
    "/faults",
    act((fields) => {
      sandbox.setFaults(fields);
      return sandbox.faults;
    }),
  );
  app.delete("/faults", () => {
    sandbox.heal();
    return reply(sandbox.faults);
  });
  app.post("/populate", act((fields) => startPopulating(parts, fields)));
  app.post(
    "/backfill",
    act((fields) => {
      const numbers = pick(fields, {
        orders: "number",
        fromMs: "number",
        untilMs: "number",
      }) as { orders: number; fromMs: number; untilMs: number };
      sandbox.backfill(numbers);
      return { orders: sandbox.orders().length };
    }),
  );
  app.post(
    "/clock",
    act(async (fields) => {
      const { advanceMs = 0 } = pick(fields, { advanceMs: "number" });
      if (!(sandbox.clock instanceof VirtualClock)) {
        throw new TypeError("Cannot advance the clock: it is not virtual");
      }
      await sandbox.clock.advance(Number(advanceMs));
      return { nowMs: sandbox.clock.now() };
    }),
  );
  return app;
}

/** What the page shows. */
function state(parts: Parts): Fields {
  const { sandbox } = parts;
  const orders = sandbox.orders();
  return {
    partnerId: sandbox.partnerId,
    nowMs: sandbox.clock.now(),
    virtualClock: sandbox.clock instanceof VirtualClock,
    delivery: sandbox.delivery,
    faults: sandbox.faults,
    counters: sandbox.counters,
    orderCount: orders.length,
    userCount: parts.users.size,
    orders: orders.slice(-SHOWN).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: sandbox.deliveries(SHOWN).reverse(),
  };
}

function setDelivery(parts: Parts, fields: Fields): unknown {
  const { sandbox } = parts;
  const { webhookUrl, disableRule, enabled, ...rest } = fields;
  pick(rest, {});
  if (webhookUrl !== undefined) {
    const url = webhookUrl === null || webhookUrl === "" ? null : webhookUrl;
    if (url !== null && !(typeof url === "string" && /^https?:/.test(url))) {
      throw new TypeError(
        `Cannot set webhookUrl: expected an http address, got ${
          JSON.stringify(url)
        }`,
      );
    }
    sandbox.setWebhookUrl(url);
  }
  if (disableRule !== undefined) {
    sandbox.setDisableRule(disableRule as DisableRule);
  }
  if (enabled === true) sandbox.enableDelivery();
  return sandbox.delivery;
}

function startPopulating(parts: Parts, fields: Fields): Fields {
  const { sandbox } = parts;
  const options = pick(fields, {
    orders: "number",
    spanMs: "number",
    stepMs: "number",
    openShare: "number",
  }) as { orders: number };
  if (!(options.orders > 0 && options.orders <= 100_000)) {
    throw new RangeError(
      `Cannot populate: orders must be from 1 to 100000, got ${options.orders}`,
    );
  }
  void sandbox.populate(options);
  return { started: options.orders };
}

const ORDER_FIELDS = {
  clickId: "string",
  sessionId: "string",
  userId: "string",
  cardId: "string",
  currency: "string",
  currencyAmount: "string",
  commodity: "string",
  network: "string",
  cryptoType: "string",
  cryptoAmount: "string",
  address: "string",
  status: "string",
  failReason: "string",
  errorText: "string",
  txId: "string",
} as const;

function orderInput(fields: Fields): OrderInput {
  return pick(fields, ORDER_FIELDS) as Partial<SandboxOrder>;
}

function userInput(fields: Fields): UserInput {
  return pick(fields, {
    country: "string",
    phone: "string",
    phoneCountry: "string",
    lkyc: "string",
    fkyc: "string",
    banned: "boolean",
  });
}

function stepFacts(fields: Fields): Partial<StepFacts> {
  return pick(fields, {
    txId: "string",
    failReason: "string",
    errorText: "string",
  });
}

function triggerInput(fields: Fields): TriggerInput {
  const input = pick(fields, {
    type: "string",
    orderId: "string",
    userId: "string",
    fields: "object",
  });
  if (typeof input.type !== "string") {
    throw new TypeError("Cannot trigger an event: type is missing");
  }
  return { ...input, type: input.type };
}

/** The fields named, each of its kind; anything else is refused. */
function pick(fields: Fields, kinds: Readonly<Record<string, string>>): Fields {
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (typeof value === kind && value !== null) continue;
    throw new TypeError(
      kind === undefined
        ? `Cannot read the request: field "${name}" is not one of ${
          Object.keys(kinds).join(", ") || "none"
        }`
        : `Cannot read the request: ${name} must be a ${kind}, got ${
          JSON.stringify(value)
        }`,
    );
  }
  return fields;
}

async function readFields(request: Request): Promise<Fields> {
  const text = await request.text();
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError("Cannot read the request: its body is not JSON");
  }
  if (isObject(value)) return value;
  throw new TypeError("Cannot read the request: its body is not an object");
}

/** JSON in which cents, kept as big integers, are written as text. */
function reply(value: unknown): Response {
  const json = JSON.stringify(
    value,
    (_name, inner) => typeof inner === "bigint" ? String(inner) : inner,
  );
  return new Response(json, {
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
    },
  });
}
