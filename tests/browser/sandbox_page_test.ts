import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { type Sandbox, serveSandbox } from "../../sandbox/mod.ts";
import { isBrowserMissing, withPage } from "../kit/browser.ts";

const ignore = await isBrowserMissing();

/** The control page of a fresh sandbox, beside an endpoint that can fail. */
async function tour(
  steps: (stage: {
    page: Page;
    sandbox: Sandbox;
    endpoint: { status: number; readonly url: string };
  }) => Promise<void>,
): Promise<void> {
  const endpoint = { status: 204, url: "" };
  await using listener = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      await request.text();
      return new Response(null, { status: endpoint.status });
    },
  );
  endpoint.url = `http://127.0.0.1:${listener.addr.port}/webhooks/secret`;
  await using served = await serveSandbox({ port: 0 });
  const faults: string[] = [];
  await withPage(async (page) => {
    page.on("pageerror", (error) => faults.push(error.message));
    page.on("console", (message) => {
      // A refusal is shown in the page; that the browser notes it as well is
      // no fault.
      const isRefusal = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isRefusal) faults.push(message.text());
    });
    await page.goto(`${served.url}/control`);
    await page.getByText("No orders yet").waitFor();
    await steps({ page, sandbox: served.sandbox, endpoint });
  });
  assert.deepEqual(faults, []);
}

Deno.test({
  name:
    "the sandbox's page leads from the first Test through a switched-off delivery and back",
  ignore,
  fn: () =>
    tour(async ({ page, sandbox, endpoint }) => {
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await page.getByText("Not sent: enter a webhook address first").waitFor();

      // What was typed is tested, saved or not.
      await page.getByLabel("Webhook address").fill(endpoint.url);
      await page.getByRole("button", { name: "Test", exact: true }).click();
      await page.getByText("your endpoint answered 204").waitFor();
      assert.equal(sandbox.delivery.webhookUrl, endpoint.url);

      await page.getByRole("button", { name: "Create an order" }).click();
      await page.getByRole("button", { name: /^pay order/ }).click();
      await page.getByRole("button", { name: /^complete order/ }).click();
      await page.locator("#Orders .pill", { hasText: "success" }).waitFor();
      await page.getByRole("button", { name: /^order_complete/ }).click();
      await page.locator("#Webhooks pre", { hasText: "transaction_id" })
        .waitFor();

      await page.getByLabel("Never sent").fill("1");
      await page.getByText("100 %").waitFor();
      // The slider says so at once, the sandbox a moment later.
      await page.locator(".rate.on").waitFor();
      assert.equal(sandbox.faults.drop, 1);
      await page.getByRole("button", { name: "All off" }).click();
      await page.locator(".rate.on").waitFor({ state: "detached" });
      assert.equal(sandbox.faults.drop, 0);

      endpoint.status = 500;
      await page.getByRole("button", { name: "Create an order" }).click();
      await page.getByRole("button", { name: /^pay order/ }).click();
      await page.getByText("1 webhook to be sent again").waitFor();
      await page.getByRole("button", { name: "+15 h" }).click();
      await page.getByRole("button", { name: "+5 min" }).click();
      await page.getByText(/^Off since/).waitFor();
      await page.getByText("15 h 5 min ahead").waitFor();
      assert.equal(sandbox.delivery.state, "disabled");
      assert.equal(sandbox.deliveries().at(-1)?.attempts.length, 6);

      endpoint.status = 204;
      await page.getByRole("button", { name: "Switch on again" }).click();
      await page.getByText("Webhooks go out as things happen").waitFor();
      await page.getByRole("button", { name: /^fail order/ }).click();
      await page.locator("#Webhooks tr").first()
        .getByText("received").waitFor();
    }),
});

Deno.test({
  name: "the sandbox's page keeps the keyboard where it is, and nothing jumps",
  ignore,
  fn: () =>
    tour(async ({ page, sandbox }) => {
      const tops = () =>
        page.evaluate<number[]>(
          `[...document.querySelectorAll("section")].map((one) => scrollY + one.getBoundingClientRect().top)`,
        );
      const before = await tops();
      sandbox.createOrder();
      await page.getByRole("button", { name: /^pay order/ }).focus();
      for (const next of ["authorise", "transfer", "complete", "cancel"]) {
        await page.keyboard.press("Enter");
        await page.locator("button:focus", { hasText: next }).waitFor();
      }
      await page.getByLabel("Fields to set").fill("{no");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").getByText("not JSON").waitFor();
      await page.getByLabel("Fields to set").fill("[1]");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByRole("alert").getByText("fields must be").waitFor();
      assert.deepEqual(await tops(), before);
      const unnamed = await page.evaluate<string[]>(
        `[...document.querySelectorAll("input, select, textarea, button")]
          .filter((one) => !one.labels?.length && !one.innerText && !one.ariaLabel)
          .map((one) => one.outerHTML)`,
      );
      assert.deepEqual(unnamed, []);
    }),
});

Deno.test({
  name: "the sandbox's page shows markup in any field as text",
  ignore,
  fn: () =>
    tour(async ({ page, sandbox, endpoint }) => {
      const markup = `<script>stolen=1</script><img src=x onerror="stolen=1">`;
      const { orderId } = sandbox.createOrder({
        externalOrderId: markup,
        commodity: markup,
        currency: markup,
        clickId: markup,
      });
      sandbox.amendOrder(orderId, { status: markup });
      sandbox.setWebhookUrl(endpoint.url);
      sandbox.trigger({ type: markup, orderId, fields: { note: markup } });
      await page.getByText(markup).first().waitFor();
      await page.locator("#Webhooks button").click();
      await page.locator("#Webhooks pre", { hasText: "stolen" }).waitFor();
      assert.equal(
        await page.evaluate(
          `document.querySelectorAll("main script, main img").length`,
        ),
        0,
      );
      assert.equal(await page.evaluate("typeof stolen"), "undefined");
    }),
});
