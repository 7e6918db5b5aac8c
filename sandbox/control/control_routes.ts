import { Hono } from "hono";
import type { SandboxEngine } from "../service/sandbox_engine.ts";
import { OPEN_SESSION } from "../engine/session_store.ts";
import { truthOf } from "../engine/truth.ts";
import { answer } from "../http/answer.ts";
import type { SandboxClock } from "../clocks/clock.ts";
import {
  type Fields,
  orderInput,
  pick,
  readFields,
  stepFacts,
  triggerInput,
  userInput,
} from "./control_input.ts";
import { controlPage } from "./control_page.ts";
import type { DisableRule } from "../delivery/retry_schedule.ts";
import { isMovable, LiveClock } from "../clocks/live_clock.ts";
import { nextSteps, type OrderStep } from "../engine/order_steps.ts";
import type { UserStep } from "../engine/user_steps.ts";

/** The control API and its page, under /control. */
export function controlRoutes(engine: SandboxEngine): Hono {
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
  app.get("/", () => controlPage(engine.partnerId));
  app.get("/widget", () => {
    const options = new URLSearchParams({
      session_id: engine.sessions.create(OPEN_SESSION).sessionId,
      click_id: engine.factory.uuid(),
    });
    return answer(302, {}, {
      location: `/${engine.partnerId}/widget?${options}`,
      "cache-control": "no-store",
    });
  });
  app.get("/state", () => reply(controlState(engine)));
  app.get("/truth", () => reply(engine.orders.all().map(truthOf)));
  app.get("/counters", () => reply(engine.counters));
  app.get("/deliveries", () => reply(engine.sender.log()));

  app.get("/orders", () => reply(engine.orders.all()));
  app.get("/orders/:id", (context) => {
    const order = engine.orders.get(context.req.param("id"));
    return order ? reply(order) : answer(404, { error: "No such order" });
  });
  app.post(
    "/orders",
    act((fields) => engine.orderCommands.create(orderInput(fields))),
  );
  app.post(
    "/orders/:id/steps",
    act(({ step, ...facts }, id) =>
      engine.orderCommands.advance(id, step as OrderStep, stepFacts(facts))
    ),
  );
  app.patch(
    "/orders/:id",
    act((fields, id) => engine.orderCommands.amend(id, orderInput(fields))),
  );

  app.delete(
    "/orders/:id",
    act((_fields, id) => {
      engine.orderCommands.remove(id);
      return { removed: id };
    }),
  );

  app.get("/sessions/:id", (context) => {
    const session = engine.sessions.get(context.req.param("id"));
    return session ? reply(session) : answer(404, { error: "No such session" });
  });

  app.get("/users", () => reply(engine.users.all()));
  app.post(
    "/users",
    act((fields) => engine.userCommands.create(userInput(fields))),
  );
  app.post(
    "/users/:id/steps",
    act(({ step }, id) => engine.userCommands.advance(id, step as UserStep)),
  );
  app.patch(
    "/users/:id",
    act((fields, id) => engine.userCommands.amend(id, userInput(fields))),
  );

  app.post(
    "/events",
    act((fields) => {
      engine.trigger(triggerInput(fields));
      return { sent: true };
    }),
  );
  app.post("/test", act(() => engine.emitter.test()));
  app.patch("/delivery", act((fields) => setDelivery(engine, fields)));
  app.get("/faults", () => reply(engine.injector.faults));
  app.patch(
    "/faults",
    act((fields) => {
      engine.injector.set(fields);
      return engine.injector.faults;
    }),
  );
  app.delete("/faults", () => {
    engine.injector.heal();
    return reply(engine.injector.faults);
  });
  app.post("/populate", act((fields) => startPopulating(engine, fields)));
  app.post(
    "/backfill",
    act((fields) => {
      const numbers = pick(fields, {
        orders: "number",
        fromMs: "number",
        untilMs: "number",
      }) as { orders: number; fromMs: number; untilMs: number };
      engine.backfill(numbers);
      return { orders: engine.orders.size };
    }),
  );
  app.post(
    "/clock",
    act(async (fields) => {
      const { advanceMs = 0 } = pick(fields, { advanceMs: "number" });
      await advance(engine.clock, Number(advanceMs));
      return { nowMs: engine.clock.now() };
    }),
  );
  return app;
}

/** Most milliseconds that one request moves the clock. */
const MOST_MS = 366 * 86_400_000;

async function advance(clock: SandboxClock, ms: number): Promise<void> {
  if (!isMovable(clock)) {
    throw new TypeError(
      "Cannot advance the clock: this sandbox was given one that only " +
        "passes by itself",
    );
  }
  if (!(ms >= 0 && ms <= MOST_MS)) {
    throw new RangeError(
      `Cannot advance the clock: advanceMs must be from 0 to ${MOST_MS}, ` +
        `got ${ms}`,
    );
  }
  await clock.advance(ms);
}

function setDelivery(engine: SandboxEngine, fields: Fields): unknown {
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
    engine.sender.webhookUrl = url;
  }
  if (disableRule !== undefined) {
    engine.sender.setDisableRule(disableRule as DisableRule);
  }
  if (enabled === true) engine.sender.enable();
  return engine.sender.status;
}

function startPopulating(engine: SandboxEngine, fields: Fields): Fields {
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
  void engine.populate(options);
  return { started: options.orders };
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
function controlState(engine: SandboxEngine): Record<string, unknown> {
  const { clock, sender } = engine;
  const orders = engine.orders.all();
  return {
    partnerId: engine.partnerId,
    nowMs: clock.now(),
    movable: isMovable(clock),
    movedMs: clock instanceof LiveClock ? clock.movedMs : 0,
    delivery: sender.status,
    faults: engine.injector.faults,
    counters: engine.counters,
    orderCount: orders.length,
    userCount: engine.users.size,
    orders: orders.slice(-MOST_ROWS).reverse().map((order) => ({
      ...order,
      nextSteps: nextSteps(order),
    })),
    deliveries: sender.log(MOST_ROWS).reverse(),
  };
}
