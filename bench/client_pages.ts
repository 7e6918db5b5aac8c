import type { Comparison } from "./comparison.ts";
import { ratioRow } from "./comparison.ts";
import { OnrampClient } from "../client/mod.ts";
import { startServer } from "./process.ts";
import { interleave, median, rate } from "./rounds.ts";

const pages = 1_500;
const rounds = 7;

/** Pages of orders by the client against bare fetch and JSON.parse. */
export const client: Comparison = {
  name: "client",
  note: "Pages of 20 orders from a server in a process of its own, one after " +
    "the other. Ours validates the query and each order, and keeps every " +
    "amount as the exact decimal that was sent, with its politeness (four " +
    "requests a second) switched off. The other side is fetch, text() and " +
    "JSON.parse, which checks nothing and gets amounts wrong.",
  run: async (say) => {
    await using server = await startServer({
      args: ["run", "--allow-net=127.0.0.1", "bench/page_server.ts"],
    });
    const { url } = server;
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
    const ours = async (): Promise<number> => {
      for (let page = 0; page < pages; page++) {
        await onramp.orders.page({ limit: 20 });
      }
      return pages;
    };
    const bare = async (): Promise<number> => {
      for (let page = 0; page < pages; page++) {
        const response = await fetch(`${url}/api/external/orders?limit=20`, {
          headers: { "x-api-key": "key" },
        });
        JSON.parse(await response.text());
      }
      return pages;
    };
    await ours();
    await bare();
    const results = await interleave(rounds, {
      ours: () => rate(ours),
      bare: () => rate(bare),
    });
    say("pages read");
    return [
      ratioRow("client, pages of 20 orders", {
        ours: median(results.ours),
        theirs: median(results.bare),
        unit: "pages/s",
        at: "least",
        bound: 0.6,
      }),
    ];
  },
};
