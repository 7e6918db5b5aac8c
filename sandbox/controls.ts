import { Hono } from "hono";
import { isOneOf, isRecord } from "../core/guards.ts";
import { answer } from "./answer.ts";
import { isMovable } from "./clock.ts";
import {
  controlPage,
  type Kind,
  type KindName,
  type Parameter,
  type ShownControl,
} from "./control_page.ts";
import { backfill, populate } from "./customers.ts";
import { BAD_DAY, FAULT_RATES } from "./faults.ts";
import { nextSteps, type OrderStep } from "./orders.ts";
import type { BackfillOptions, PopulateOptions } from "./sandbox.ts";
import { DISABLE_RULES, type DisableRule } from "./sender.ts";
import type { Service } from "./service.ts";
import type { UserStep } from "./users.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One thing that a person or a program can do to the sandbox. */
interface Control extends ShownControl {
  readonly run: (service: Service, fields: Fields, id: string) => unknown;
}

/** A row of the table of controls. */
function control(
  place: string,
  help: string,
  parameters: Control["parameters"],
  run: Control["run"],
  ...buttons: Control["buttons"]
): Control {
  const [method = "", path = ""] = place.split(" ");
  return { method, path, help, parameters, run, buttons };
}

const texts = (...names: readonly string[]): Record<string, Parameter> =>
  Object.fromEntries(names.map((name) => [name, ["text"]]));

const ORDER: Readonly<Record<string, Parameter>> = {
  ...texts("clickId", "sessionId", "userId", "cardId"),
  ...texts("currency", "currencyAmount", "commodity", "network"),
  ...texts("cryptoType", "cryptoAmount", "address", "status"),
  ...texts("failReason", "errorText", "txId"),
};

const USER: Readonly<Record<string, Parameter>> = {
  ...texts("country", "phone", "phoneCountry", "lkyc", "fkyc"),
  banned: ["switch"],
};

/** Most milliseconds that one request moves the clock. */
const MOST_MS = 366 * 86_400_000;

/** Every control: the routes, their parameters, and the page's forms. */
const CONTROLS: Readonly<Record<string, Control>> = {
  createOrder: control(
    "POST /orders",
    "Creates an order, without a webhook",
    ORDER,
    (service, fields) => service.createOrder(fields),
    ["Create an order"],
  ),
  advanceOrder: control(
    "POST /orders/:id/steps",
    "Lets an order take a step, and sends the webhook of it",
    { step: ["text"], ...texts("txId", "failReason", "errorText") },
    (service, { step, ...facts }, id) =>
      service.advance(id, step as OrderStep, facts),
  ),
  amendOrder: control(
    "PATCH /orders/:id",
    "Rewrites an order as no step would, without a webhook",
    ORDER,
    (service, fields, id) => service.amendOrder(id, fields),
  ),
  removeOrder: control(
    "DELETE /orders/:id",
    "Removes an order, so that no answer shows it any more",
    {},
    (service, _fields, id) => {
      service.removeOrder(id);
      return { removed: id };
    },
  ),
  createUser: control(
    "POST /users",
    "Creates a user, without a webhook",
    USER,
    (service, fields) => service.createUser(fields),
  ),
  advanceUser: control(
    "POST /users/:id/steps",
    "Lets a user take a step, and sends the webhook of it",
    { step: ["text"] },
    (service, { step }, id) => service.advanceUser(id, step as UserStep),
  ),
  amendUser: control(
    "PATCH /users/:id",
    "Rewrites a user, without a webhook",
    USER,
    (service, fields, id) => service.amendUser(id, fields),
  ),
  trigger: control(
    "POST /events",
    "Sends an event although nothing happened: this is how a lie looks",
    {
      type: ["text", "Type"],
      orderId: ["text", "About order"],
      userId: ["text"],
      fields: ["object", "Fields to set, as JSON"],
    },
    (service, { type, ...about }) => {
      if (typeof type !== "string") {
        throw new TypeError("Cannot trigger an event: type is missing");
      }
      service.trigger({ type, ...about });
      return { sent: true };
    },
    ["Send"],
  ),
  test: control(
    "POST /test",
    "Sends one event at once, even while delivery is off",
    {},
    (service) => service.pressTest(),
    ["Test"],
  ),
  delivery: control(
    "PATCH /delivery",
    "Sets where webhooks go, and when failures switch delivery off",
    {
      webhookUrl: ["url", "Webhook address"],
      disableRule: [DISABLE_RULES, "Delivery is switched off by"],
      enabled: ["switch"],
    },
    ({ sender }, { webhookUrl, disableRule, enabled }) => {
      if (webhookUrl !== undefined) {
        sender.setWebhookUrl(webhookUrl ? String(webhookUrl) : null);
      }
      if (disableRule !== undefined) {
        sender.setDisableRule(disableRule as DisableRule);
      }
      if (enabled === true) sender.enable();
      return sender.status;
    },
    ["Switch on again", { enabled: true }],
  ),
  faults: control(
    "PATCH /faults",
    "Sets what goes wrong, and how often",
    {
      ...Object.fromEntries(
        Object.entries(FAULT_RATES).map(([name, [label]]) =>
          [name, ["rate", label]] as const
        ),
      ),
      endpointDown: ["switch", "Endpoint down"],
      clockSkewMs: ["number", "Clock ahead by ms"],
      endpointDownSpans: ["list"],
    },
    ({ injector }, fields) => {
      injector.set(fields);
      return injector.faults;
    },
    ["Bad day", BAD_DAY],
  ),
  heal: control(
    "DELETE /faults",
    "Switches every fault off",
    {},
    (service) => {
      service.heal();
      return service.faults;
    },
    ["All off"],
  ),
  populate: control(
    "POST /populate",
    "Simulates customers who buy for a while",
    {
      ...{ orders: ["number"], spanMs: ["number"] },
      ...{ stepMs: ["number"], openShare: ["rate"] },
    },
    (service, fields) => {
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
    ["20 orders in 20 seconds", { orders: 20, spanMs: 20_000, stepMs: 1_500 }],
  ),
  backfill: control(
    "POST /backfill",
    "Writes finished orders into the past, without webhooks",
    {
      ...{ orders: ["number"], fromMs: ["number"], untilMs: ["number"] },
      clickId: ["text"],
    },
    (service, fields) => {
      backfill(service, fields as unknown as BackfillOptions);
      return { orders: service.orderStore.size };
    },
  ),
  clock: control(
    "POST /clock",
    "Moves the clock ahead, timer by timer",
    { advanceMs: ["number"] },
    async ({ clock }, { advanceMs = 0 }) => {
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
    ["+5 min", { advanceMs: 300_000 }],
    ["+1 h", { advanceMs: 3_600_000 }],
    ["+15 h", { advanceMs: 54_000_000 }],
  ),
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
    Object.values(CONTROLS).map(({ method, path, help, parameters }) => ({
      ...{ method, path: `/control${path}`, help },
      parameters: Object.fromEntries(
        Object.entries(parameters).map(([name, [kind]]) => [name, kind]),
      ),
    })),
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
    return answer(302, {}, {
      location: `/${service.partnerId}/widget?${options}`,
      "cache-control": "no-store",
    });
  });
  for (const [path, read] of Object.entries(READS)) {
    app.get(`/${path}`, (context) => {
      const found = read(service, context.req.param("id") ?? "");
      if (found !== null) return reply(found);
      const [kind] = path.split("s/");
      return answer(404, { error: `No such ${kind}` });
    });
  }
  for (const { method, path, parameters, run } of Object.values(CONTROLS)) {
    app.on(method, path, async (context) => {
      const fields = await readFields(context.req.raw, parameters);
      return reply(await run(service, fields, context.req.param("id") ?? ""));
    });
  }
  return app;
}

/** The fields of a request; throws unless each is a parameter of its kind. */
async function readFields(
  request: Request,
  parameters: Control["parameters"],
): Promise<Fields> {
  const text = await request.text();
  let fields: unknown;
  try {
    fields = text === "" ? {} : JSON.parse(text);
  } catch {
    throw new TypeError("Cannot read the request: its body is not JSON");
  }
  if (!isRecord(fields)) {
    throw new TypeError("Cannot read the request: its body is not an object");
  }
  for (const [name, value] of Object.entries(fields)) {
    if (!Object.hasOwn(parameters, name)) {
      throw new TypeError(
        `Cannot read the request: field "${name}" is not one of ${
          Object.keys(parameters).join(", ") || "none"
        }`,
      );
    }
    const expected = unlike(value, parameters[name]?.[0] ?? "text");
    if (expected === null) continue;
    throw new TypeError(
      `Cannot read the request: ${name} must be ${expected}, got ` +
        JSON.stringify(value),
    );
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

/** What a value has to be, where it is not; else null. */
function unlike(value: unknown, kind: Kind): string | null {
  if (typeof kind !== "string") {
    return isOneOf<unknown>(kind, value) ? null : `one of ${kind.join(", ")}`;
  }
  const [what, is] = KINDS[kind];
  return is(value) ? null : what;
}

/** A JSON answer. Cents are big integers, so they are written as text. */
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

/** How many rows a list of the state holds. */
const MOST_ROWS = 50;

/** Everything that the control page shows. */
function controlState(service: Service): Record<string, unknown> {
  const { clock, sender, injector, counters, partnerId } = service;
  const orders = service.orders();
  return {
    partnerId,
    nowMs: clock.now(),
    movable: isMovable(clock),
    movedMs: "movedMs" in clock ? clock.movedMs : 0,
    delivery: sender.status,
    faults: injector.faults,
    counters,
    orderCount: orders.length,
    userCount: service.userStore.size,
    orders: orders.slice(-MOST_ROWS).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: sender.log(MOST_ROWS).reverse(),
  };
}
