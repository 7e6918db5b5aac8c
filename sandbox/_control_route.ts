import { Hono } from "hono";
import { answer, type Parts } from "./_app.ts";
import type { SandboxClock } from "./clock.ts";
import {
  type Fields,
  orderInput,
  pick,
  readFields,
  stepFacts,
  triggerInput,
  userInput,
} from "./_control_input.ts";
import { controlPage } from "./_control_page.ts";
import { controlState } from "./_control_state.ts";
import type { DisableRule } from "./ladder.ts";
import { isMovable } from "./_movable_clock.ts";
import type { OrderStep } from "./order_life.ts";
import { addOpenSession } from "./_session_route.ts";
import type { UserStep } from "./user_life.ts";

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
  app.get("/widget", () => {
    const options = new URLSearchParams({
      session_id: addOpenSession(parts).sessionId,
      click_id: parts.maker.sessionId(),
    });
    return answer(302, {}, {
      location: `/${sandbox.partnerId}/widget?${options}`,
      "cache-control": "no-store",
    });
  });
  app.get("/state", () => reply(controlState(parts)));
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
      await advance(sandbox.clock, Number(advanceMs));
      return { nowMs: sandbox.clock.now() };
    }),
  );
  return app;
}

/** Furthest that one request moves the clock, ms. */
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
