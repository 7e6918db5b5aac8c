import type { Comparison, Row } from "./measuring/comparison.ts";
import { ratioRow } from "./measuring/comparison.ts";
import { OnrampClient } from "../client/mod.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { startServer } from "./process.ts";
import { interleave, rate } from "./measuring/rounds.ts";

const pages = 1_000;
const rounds = 5;

/** Pages of orders by the client against bare fetch and JSON.parse. */
export const client: Comparison = {
  name: "client",
  note: "Pages of 20 orders from a server in a process of its own, one after " +
    "the other. Ours validates the query and each order, and keeps every " +
    "amount as the exact decimal that was sent, with its politeness (four " +
    "requests a second) switched off. The other side is fetch, text() and " +
    "JSON.parse, which checks nothing and gets amounts wrong.",
  run: async ({ say }) => {
    await using server = await startServer({
      args: ["run", "--allow-net=127.0.0.1", "bench/page_server.ts"],
    });
    const rows: Row[] = [];
    for (const form of ["current", "earlier"] as const) {
      const url = form === "current" ? server.url : `${server.url}/earlier`;
      const sides = sidesOf(url);
      await sides.ours();
      await sides.bare();
      const { ours, bare } = await interleave(rounds, {
        ours: () => rate(sides.ours),
        bare: () => rate(sides.bare),
      }, { say });
      say(`pages in the ${form} form read`);
      rows.push(ratioRow(`client, pages of 20 orders, ${form} form`, {
        ours: ours.results,
        theirs: bare.results,
        unit: "pages/s",
        at: "least",
        bound: 0.75,
        limit: limitOf(ours.usages, "the server's answer"),
      }));
    }
    return rows;
  },
};

function sidesOf(url: string): Record<"ours" | "bare", () => Promise<number>> {
  const onramp = new OnrampClient({
    environment: {
      name: "bench",
      baseUrl: url,
      cardsBaseUrl: url,
      widgetOrigin: url,
      dashboardUrl: url,
    },
    apiKey: "key",
    requestsPerSecond: 1e9,
  });
  return {
    ours: async () => {
      for (let page = 0; page < pages; page++) {
        await onramp.orders.page({ limit: 20 });
      }
      return pages;
    },
    bare: async () => {
      for (let page = 0; page < pages; page++) {
        const response = await fetch(`${url}/api/external/orders?limit=20`, {
          headers: { "x-api-key": "key" },
        });
        JSON.parse(await response.text());
      }
      return pages;
    },
  };
}
