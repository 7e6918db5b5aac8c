import { Hono } from "hono";
import { isOneOf, isRecord } from "../core/guards.ts";
import { answer } from "./answer.ts";
import { isMovable } from "./clock.ts";
import {
  type Control,
  controlPage,
  type Kind,
  type KindName,
} from "./control_page.ts";
import { backfill, populate } from "./customers.ts";
import { BAD_DAY, FAULT_RATES } from "./faults.ts";
import { nextSteps, type OrderStep } from "./orders.ts";
import type { BackfillOptions, PopulateOptions } from "./sandbox.ts";
import { DISABLE_RULES, type DisableRule } from "./sender.ts";
import type { Service } from "./service.ts";
import type { UserStep } from "./users.ts";

function each<Value>(value: Value, names: string): Record<string, Value> {
  return Object.fromEntries(names.split(" ").map((name) => [name, value]));
}

const ORDER = each<Kind>(
  "text",
  "clickId sessionId userId cardId currency currencyAmount commodity network " +
    "cryptoType cryptoAmount address status failReason errorText txId",
);

const USER: Readonly<Record<string, Kind>> = {
  ...each("text", "country phone phoneCountry lkyc fkyc"),
  banned: "switch",
};

/** Most milliseconds that one request moves the clock. */
const MOST_MS = 366 * 86_400_000;

/** Every control: the routes, their parameters, and the page's forms. */
const CONTROLS: Readonly<Record<string, Control>> = {
  "POST /orders": {
    help: "Creates an order, without a webhook",
    parameters: ORDER,
    run: (service, fields) => service.createOrder(fields),
    buttons: { "Create an order": {} },
  },
  "POST /orders/:id/steps": {
    help: "Lets an order take a step, and sends the webhook of it",
    parameters: each("text", "step txId failReason errorText"),
    run: (service, { step, ...facts }, id) =>
      service.advance(id, step as OrderStep, facts),
  },
  "PATCH /orders/:id": {
    help: "Rewrites an order as no step would, without a webhook",
    parameters: ORDER,
    run: (service, fields, id) => service.amendOrder(id, fields),
  },
  "DELETE /orders/:id": {
    help: "Removes an order, so that no answer shows it any more",
    parameters: {},
    run: (service, _fields, id) => {
      service.removeOrder(id);
      return { removed: id };
    },
  },
  "POST /users": {
    help: "Creates a user, without a webhook",
    parameters: USER,
    run: (service, fields) => service.createUser(fields),
  },
  "POST /users/:id/steps": {
    help: "Lets a user take a step, and sends the webhook of it",
    parameters: { step: "text" },
    run: (service, { step }, id) => service.advanceUser(id, step as UserStep),
  },
  "PATCH /users/:id": {
    help: "Rewrites a user, without a webhook",
    parameters: USER,
    run: (service, fields, id) => service.amendUser(id, fields),
  },
  "POST /events": {
    help: "Sends an event although nothing happened: this is how a lie looks",
    parameters: { ...each("text", "type orderId userId"), fields: "object" },
    labels: {
      ...{ type: "Type", orderId: "About order" },
      fields: "Fields to set, as JSON",
    },
    run: (service, { type, ...about }) => {
      if (typeof type !== "string") {
        throw new TypeError("Cannot trigger an event: type is missing");
      }
      service.trigger({ type, ...about });
      return { sent: true };
    },
    buttons: { Send: {} },
  },
  "POST /test": {
    help: "Sends one event at once, even while delivery is off",
    parameters: {},
    run: (service) => service.pressTest(),
    buttons: { Test: {} },
  },
  "PATCH /delivery": {
    help: "Sets where webhooks go, and when failures switch delivery off",
    parameters: {
      webhookUrl: "url",
      disableRule: DISABLE_RULES,
      enabled: "switch",
    },
    labels: {
      webhookUrl: "Webhook address",
      disableRule: "Delivery is switched off by",
    },
    run: (service, { webhookUrl, disableRule, enabled }) => {
      if (webhookUrl !== undefined) {
        service.setWebhookUrl(webhookUrl ? String(webhookUrl) : null);
      }
      if (disableRule !== undefined) {
        service.setDisableRule(disableRule as DisableRule);
      }
      if (enabled === true) service.enableDelivery();
      return service.delivery;
    },
    buttons: { "Switch on again": { enabled: true } },
  },
  "PATCH /faults": {
    help: "Sets what goes wrong, and how often",
    parameters: {
      ...each("rate", Object.keys(FAULT_RATES).join(" ")),
      endpointDown: "switch",
      clockSkewMs: "number",
      endpointDownSpans: "list",
    },
    labels: {
      ...Object.fromEntries(
        Object.entries(FAULT_RATES).map(([name, [label]]) => [name, label]),
      ),
      endpointDown: "Endpoint down",
      clockSkewMs: "Clock ahead by ms",
    },
    run: (service, fields) => {
      service.setFaults(fields);
      return service.faults;
    },
    buttons: { "Bad day": BAD_DAY },
  },
  "DELETE /faults": {
    help: "Switches every fault off",
    parameters: {},
    run: (service) => {
      service.heal();
      return service.faults;
    },
    buttons: { "All off": {} },
  },
  "POST /populate": {
    help: "Simulates customers who buy for a while",
    parameters: {
      ...each("number", "orders spanMs stepMs"),
      openShare: "rate",
    },
    run: (service, fields) => {
      const options = fields as unknown as PopulateOptions;
      const { orders } = options;
      if (!(orders > 0 && orders <= 100_000)) {
        throw new RangeError(
          `Cannot populate: orders must be from 1 to 100000, got ${orders}`,
        );
      }
      void service.run(populate(service, options));
      return { started: orders };
    },
    buttons: {
      "20 orders in 20 seconds": { orders: 20, spanMs: 20_000, stepMs: 1_500 },
    },
  },
  "POST /backfill": {
    help: "Writes finished orders into the past, without webhooks",
    parameters: { ...each("number", "orders fromMs untilMs"), clickId: "text" },
    run: (service, fields) => {
      backfill(service, fields as unknown as BackfillOptions);
      return { orders: service.orderStore.size };
    },
  },
  "POST /clock": {
    help: "Moves the clock ahead, timer by timer",
    parameters: { advanceMs: "number" },
    run: async ({ clock }, { advanceMs = 0 }) => {
      const ms = Number(advanceMs);
      if (!isMovable(clock)) {
        throw new TypeError(
          "Cannot advance the clock: this sandbox was given one that only " +
            "passes by itself; give it a virtualClock()",
        );
      }
      if (!(ms >= 0 && ms <= MOST_MS)) {
        throw new RangeError(
          `Cannot advance the clock: advanceMs must be from 0 to ${MOST_MS}, ` +
            `got ${ms}`,
        );
      }
      await clock.advance(ms);
      return { nowMs: clock.now() };
    },
    buttons: {
      "+5 min": { advanceMs: 300_000 },
      "+1 h": { advanceMs: 3_600_000 },
      "+15 h": { advanceMs: 54_000_000 },
    },
  },
};

/** What can be read: everything of a kind, or one of them by its id. */
const READS: Readonly<
  Record<string, (service: Service, id: string) => unknown>
> = {
  state: controlState,
  truth: (service) => service.truth(),
  counters: (service) => service.counters,
  deliveries: (service) => service.deliveries(),
  faults: (service) => service.faults,
  orders: (service) => service.orders(),
  users: (service) => service.users(),
  "orders/:id": (service, id) => service.order(id),
  "sessions/:id": ({ sessions }, id) => sessions.get(id),
  help: () =>
    Object.entries(CONTROLS).map(([place, { help, parameters }]) => {
      const [method, path] = place.split(" ");
      return { method, path: `/control${path}`, help, parameters };
    }),
};

/** The control API and its page, under /control. */
export function controlRoutes(service: Service): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const { method, url, headers } = context.req.raw;
    // A page of another origin must not control a sandbox on this machine.
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
  app.get("/", () => controlPage(service.partnerId, CONTROLS));
  app.get("/widget", () => {
    const options = new URLSearchParams({
      session_id: service.sessions.create().sessionId,
      click_id: service.factory.uuid(),
    });
    const location = `/${service.partnerId}/widget?${options}`;
    return answer(302, {}, { location, "cache-control": "no-store" });
  });
  for (const [path, read] of Object.entries(READS)) {
    app.get(`/${path}`, (context) => {
      const found = read(service, context.req.param("id") ?? "");
      if (found !== null) return reply(found);
      const [kind] = path.split("s/");
      return answer(404, { error: `No such ${kind}` });
    });
  }
  for (const [place, { parameters, run }] of Object.entries(CONTROLS)) {
    const [method = "", path = ""] = place.split(" ");
    app.on(method, path, async (context) => {
      const fields = readFields(await context.req.text(), parameters);
      return reply(await run(service, fields, context.req.param("id") ?? ""));
    });
  }
  return app;
}

/** The fields of a body; throws unless each is a parameter of its kind. */
function readFields(
  text: string,
  parameters: Control["parameters"],
): Readonly<Record<string, unknown>> {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot read the request: ${why}`);
  };
  let fields: unknown;
  try {
    fields = text === "" ? {} : JSON.parse(text);
  } catch {
    refuse("its body is not JSON");
  }
  if (!isRecord(fields)) return refuse("its body is not an object");
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(parameters).join(", ") || "none";
      return refuse(`field "${name}" is not one of ${names}`);
    }
    const [expected, is] = typeof kind === "string"
      ? KINDS[kind]
      : [`one of ${kind.join(", ")}`, (one: unknown) => isOneOf(kind, one)];
    if (is(value)) continue;
    refuse(`${name} must be ${expected}, got ${JSON.stringify(value)}`);
  }
  return fields;
}

/** What a value of each kind has to be, and whether it is. */
const KINDS: Readonly<
  Record<KindName, readonly [what: string, is: (value: unknown) => boolean]>
> = {
  text: ["a string", (value) => typeof value === "string"],
  url: [
    "an http address, or null",
    (value) => /^(https?:.*|null|)$/.test(String(value)),
  ],
  number: ["a number", (value) => typeof value === "number"],
  rate: ["a number", (value) => typeof value === "number"],
  switch: ["a boolean", (value) => typeof value === "boolean"],
  object: ["an object", isRecord],
  list: ["a list", Array.isArray],
};

/** A JSON answer. Cents are big integers, so they are written as text. */
function reply(value: unknown): Response {
  const json = JSON.stringify(
    value,
    (_name, inner) => typeof inner === "bigint" ? String(inner) : inner,
  );
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
  };
  return new Response(json, { headers });
}

/** How many rows a list of the state holds. */
const MOST_ROWS = 50;

/** Everything that the control page shows. */
function controlState(service: Service): Record<string, unknown> {
  const { clock, delivery, faults, counters, partnerId } = service;
  const orders = service.orders();
  return {
    partnerId,
    nowMs: clock.now(),
    movable: isMovable(clock),
    movedMs: "movedMs" in clock ? clock.movedMs : 0,
    ...{ delivery, faults, counters },
    orderCount: orders.length,
    userCount: service.userStore.size,
    orders: orders.slice(-MOST_ROWS).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: service.deliveries(MOST_ROWS).reverse(),
  };
}
