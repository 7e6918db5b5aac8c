import type { Comparison } from "./measuring/comparison.ts";
import { boundRow } from "./measuring/comparison.ts";
import { webhookBody } from "./bodies.ts";
import { startSqld } from "../ledger/testing/sqld_test_server.ts";
import { LEDGER_PERMISSIONS, startServer, withFolder } from "./process.ts";
import { interleave, median } from "./measuring/rounds.ts";

const rounds = 5;
const secret = "a-secret-of-the-benchmark-alone";

/** How soon the entry for Deno Deploy answers. */
export const deploy: Comparison = {
  name: "deploy",
  note: "From the start of the process to the end of its first answer. Ours " +
    "is the entry for Deno Deploy on a real sqld, with warm module cache: " +
    "first `GET /healthz`, or, in another start, a delivery, which connects to " +
    "the ledger, checks its schema and commits before it is answered 204. " +
    "The bare Deno.serve that stores nothing is started beside them.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      await using sqld = await startSqld({ directory: `${folder}/sqld` });
      const entry = {
        args: [
          "serve",
          "--host",
          "127.0.0.1",
          "--port",
          "0",
          ...LEDGER_PERMISSIONS.filter((flag) => !/ffi|write/.test(flag)),
          "server/deploy.ts",
        ],
        env: {
          RAMPKIT_ENVIRONMENT: "sandbox",
          RAMPKIT_DATABASE_URL: sqld.url,
          RAMPKIT_WEBHOOK_SECRET: secret,
        },
      };
      const body = webhookBody(1, "order_complete");
      const delivery = () =>
        firstAnswer(entry, `/webhooks/${secret}`, { method: "POST", body });
      await delivery();
      const results = await interleave(rounds, {
        health: () => firstAnswer(entry, "/healthz"),
        delivery,
        bare: () =>
          firstAnswer(
            { args: ["run", "--allow-net=127.0.0.1", "bench/bare_server.ts"] },
            "/",
            { method: "POST", body },
          ),
      }, { say });
      say("started and asked");
      const bareMs = median(results.bare.results);
      const limit = "not measured";
      return [
        boundRow("deploy, first answer", {
          ours: results.health.results,
          most: 400,
          unit: "ms",
          limit,
          details: { bareMs },
        }),
        boundRow("deploy, first delivery stored", {
          ours: results.delivery.results,
          most: 400,
          unit: "ms",
          limit,
          details: { bareMs },
        }),
      ];
    }),
};

async function firstAnswer(
  starting: Parameters<typeof startServer>[0],
  path: string,
  init: RequestInit = {},
): Promise<number> {
  const start = performance.now();
  await using server = await startServer(starting);
  const response = await fetch(server.url + path, init);
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The entry answered ${response.status}`);
  return performance.now() - start;
}
