import type { Browser, Page } from "playwright-core";

const executablePath = "/usr/bin/chromium";

/** Whether CI insists on the browser tests. */
const isRequired = Deno.env.get("RAMPKIT_REQUIRE_BROWSER") === "1";

/**
 * Whether browser tests are to be left out: Debian's Chromium is missing, or
 * may not be run. Says so; where CI insists, the tests run, and fail.
 */
export async function isBrowserMissing(): Promise<boolean> {
  const reason = await whyMissing();
  if (reason === null || isRequired) return false;
  console.warn(`Browser tests are skipped: ${reason}`);
  return true;
}

async function whyMissing(): Promise<string | null> {
  const run = { name: "run", command: executablePath } as const;
  const { state } = await Deno.permissions.query(run);
  if (state !== "granted") return `no --allow-run=${executablePath}`;
  try {
    await Deno.stat(executablePath);
    return null;
  } catch {
    return `${executablePath} is missing; apt-get install chromium`;
  }
}

/** Runs something on a page of a fresh browser, and closes the browser. */
export async function withPage<T>(
  use: (page: Page) => Promise<T>,
): Promise<T> {
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    return await use(page);
  } finally {
    await browser.close();
  }
}

async function launch(): Promise<Browser> {
  // While it loads, a part of playwright-core looks into /proc for Windows,
  // which Deno allows to nobody; its own tests have this switch for it.
  Deno.env.set("__IS_WSL_TEST__", "1");
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath,
    timeout: 120_000,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
