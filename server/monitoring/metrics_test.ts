import assert from "node:assert/strict";
import { serviceMetrics } from "./metrics.ts";

Deno.test("serviceMetrics() passes commits and failures on as they are", async () => {
  const { timed } = serviceMetrics({ now: () => 0 });
  let commits = 0;
  await timed(() => {
    commits++;
    return Promise.resolve();
  });
  await assert.rejects(timed(() => Promise.reject(new Error("Full"))), /Full/);
  assert.equal(commits, 1);
});

Deno.test("serviceMetrics() exports commits and lag when telemetry is on", async () => {
  const received: string[] = [];
  await using collector = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      received.push(await request.text());
      return Response.json({});
    },
  );
  const program = `
    import { serviceMetrics } from ${
    JSON.stringify(new URL("metrics.ts", import.meta.url).href)
  };
    const measured = serviceMetrics();
    await measured.timed(() => Promise.resolve());
    measured.spool({ depth: 3, oldestMs: Date.now() - 5000 });
    measured.lag(7);
    measured.delivery({
      deliverySuspected: true,
      state: "suspected",
      failingSince: null,
      countdown: { leftFromFirstMs: 1000, leftFromPreviousMs: 2000 },
    });
    measured.polling({ failures: [], workedAt: null });
    measured.chain({ broken: null });
  `;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, program);
  const { code, stderr } = await new Deno.Command("deno", {
    args: [
      "run",
      "--allow-read",
      "--allow-net=127.0.0.1",
      `--config=${new URL("../../deno.json", import.meta.url).pathname}`,
      file,
    ],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
    },
  }).output();
  await Deno.remove(file);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const text = received.join("\n");
  for (
    const name of [
      "rampkit.ledger.commit.duration",
      "rampkit.ledger.lag",
      "rampkit.ledger.chain.broken",
      "rampkit.delivery.suspected",
      "rampkit.delivery.received",
      "rampkit.delivery.failing",
      "rampkit.delivery.off.in",
      "rampkit.poll.failing",
      "rampkit.poll.attempts",
    ]
  ) assert.ok(text.includes(name), name);
});
