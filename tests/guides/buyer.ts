import { withPage } from "../kit/browser.ts";

/** A customer in a browser, before a shop's page. */
export interface Buyer {
  /** Presses Buy and pays, the price or what is said, and closes the widget. */
  pay(amount?: string): Promise<void>;
  /** Waits until the page shows this to the customer. */
  reads(text: string): Promise<void>;
}

/** Opens a shop's page in a fresh browser for a customer. */
export async function asBuyer(
  url: string,
  buys: (buyer: Buyer) => Promise<void>,
): Promise<void> {
  await withPage(async (page) => {
    const complaints: string[] = [];
    page.on("pageerror", ({ message }) => complaints.push(message));
    await page.goto(url);
    await buys({
      pay: async (amount) => {
        await page.dblclick("button");
        const iframe = await page.waitForSelector("iframe");
        const frame = await iframe.contentFrame();
        if (frame === null) throw new Error("The widget has no page");
        await frame.waitForSelector("#pay");
        if (amount !== undefined) await frame.fill("#amount", amount);
        await frame.click("#pay");
        await frame.click("#continue");
        await frame.waitForSelector("#headline.good");
        await frame.click("#done");
        await page.waitForSelector("iframe", { state: "detached" });
      },
      reads: async (text) => {
        await page.getByText(text).waitFor();
      },
    });
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
  });
}
