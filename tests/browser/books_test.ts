import axe from "axe-core";
import assert from "node:assert/strict";
import { Operations } from "../../server/api/operations.ts";
import { EXPLORERS } from "../../server/console/context/page_context.ts";
import { openConsole } from "../../server/console/console_app.ts";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { isBrowserMissing, withPage } from "../kit/browser.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";

const ignore = await isBrowserMissing();

Deno.test({
  name: "finance closes a month in four clicks",
  ignore,
}, async () => {
  let time = "2026-11-02T08:00:00Z";
  const now = () => Date.parse(time);
  await using ledger = await emptyLedger({
    now,
  });
  const terms = { timeZone: "UTC", bookBy: "confirmed" } as const;
  await ledger.append([
    monthReading({ order: "OCT1", at: "2026-10-05T10:00:00Z" }),
  ]);
  await ledger.months.close("2026-10", terms);
  await ledger.append([
    monthReading({ order: "O1", at: "2026-11-20T10:00:00Z" }),
    monthReading({ order: "O2", at: "2026-11-21T10:00:00Z" }),
    monthReading({ order: "O3", at: "2026-11-22T10:00:00Z" }),
    monthReading({
      order: "OCT1",
      at: "2026-11-23T10:00:00Z",
      status: "cancelled",
    }),
  ]);
  await ledger.project();
  time = "2026-12-02T08:00:00Z";
  const log = () => {};
  const opened = await openConsole({
    ledger,
    now,
    access: { kind: "open", operates: true },
    hostNames: [],
    dashboardUrl: "https://dashboard.example",
    explorers: EXPLORERS,
    catchUp: () => Promise.resolve(),
    operations: new Operations({
      ...{ ledger, now, log, poller: null, service: null },
      signal: new AbortController().signal,
    }),
    log,
  }, { port: 0, host: "127.0.0.1" });
  try {
    await withPage(async (page) => {
      page.setDefaultTimeout(30_000);
      let clicks = 0;
      const click = async (name: string | RegExp, role: "link" | "button") => {
        clicks++;
        await page.getByRole(role, { name, exact: true }).first().click();
      };
      const has = async (text: RegExp) =>
        assert.match(
          (await page.locator("main").innerText()).replace(/\s+/g, " "),
          text,
        );
      const isAccessible = async () => {
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate("axe.run()") as {
          readonly violations: readonly {
            readonly id: string;
            readonly impact: string;
          }[];
        };
        assert.deepEqual(
          violations.filter(({ impact }) =>
            impact === "serious" || impact === "critical"
          ).map(({ id }) => id),
          [],
        );
      };
      await page.goto(opened.url);
      await click("Months", "link");
      await click("2026-11", "link");
      await has(/Sales USD 3 90\.30/);
      await has(/Reversals USD 1 -30\.10/);
      clicks++;
      await page.getByRole("checkbox").check();
      await click("Close 2026-11", "button");
      await has(/2026-11 closed/);
      await isAccessible();
      assert.ok(clicks <= 4, `${clicks} clicks`);
      const shots = Deno.env.get("BOOKS_SHOTS");
      if (shots !== undefined) {
        for (
          const [name, path] of [["month", "/months/2026-11"], [
            "closed",
            "/months/2026-10",
          ]]
        ) {
          for (
            const [width, scheme] of [[1280, "light"], [390, "dark"], [
              1920,
              "dark",
            ]] as const
          ) {
            await page.setViewportSize({ width, height: 900 });
            await page.emulateMedia({ colorScheme: scheme });
            await page.goto(opened.url + path);
            await page.screenshot({
              path: `${shots}/${name}-${width}.png`,
              fullPage: true,
            });
          }
        }
      }
    });
  } finally {
    await opened.shutdown();
  }
});
