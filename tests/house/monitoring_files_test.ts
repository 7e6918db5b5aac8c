import assert from "node:assert/strict";
import { isInstalled } from "../kit/is_installed.ts";
import { prometheusName } from "../../server/monitoring/prometheus/prometheus_text.ts";
import { ALARM_CODES } from "../../resources/health/conditions.ts";
import { grafanaDashboard } from "../../tools/monitoring/grafana_dashboard.ts";
import {
  alertName,
  prometheusRules,
} from "../../tools/monitoring/prometheus_rules.ts";
import { isTestFile, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** What is printed into `daemon/`. */
const FILES = {
  "daemon/prometheus_rules.yml": prometheusRules,
  "daemon/grafana_dashboard.json": grafanaDashboard,
};

for (const [path, print] of Object.entries(FILES)) {
  Deno.test(`${path} is printed from the conditions and metrics that there are`, async () => {
    const file = `${root}/${path}`;
    if (Deno.env.get("RAMPKIT_WRITE_TABLES") === "1") {
      await Deno.writeTextFile(file, print());
    } else {
      assert.equal(
        await Deno.readTextFile(file),
        print(),
        "run: RAMPKIT_WRITE_TABLES=1 deno task test tests/house/monitoring_files_test.ts",
      );
    }
  });
}

Deno.test("there is one rule of Prometheus for each alarm", () => {
  const alerts = [...prometheusRules().matchAll(/- alert: (\w+)/g)]
    .map(([, name]) => name);
  assert.deepEqual(alerts, [...ALARM_CODES.map(alertName), "RampkitSilent"]);
  assert.equal(new Set(alerts).size, alerts.length);
});

/** The metrics that instruments make, as Prometheus names them. */
async function metricsMade(): Promise<ReadonlySet<string>> {
  const made = new Set<string>();
  for (const file of await sourceFiles(root)) {
    if (isTestFile(file)) continue;
    const code = await Deno.readTextFile(`${root}/${file}`);
    const instruments = code.matchAll(
      /(?:create(Counter|Gauge|Histogram|ObservableGauge)|gauge)\(\s*"(rampkit\.[a-z._]+)",([^;]*?)\)/g,
    );
    for (const [, kind = "Gauge", name = "", options = ""] of instruments) {
      const type = kind === "Counter"
        ? "counter"
        : kind === "Histogram"
        ? "histogram"
        : "gauge";
      const unit = /unit: "s"|^[^{]*"s",?\s*$/.test(options) ? "s" : "";
      const metric = prometheusName(name, { type, unit });
      made.add(type === "histogram" ? `${metric}_bucket` : metric);
    }
  }
  return made;
}

Deno.test("rules and dashboard name only metrics that are made", async () => {
  const made = await metricsMade();
  assert.ok(made.size > 20, [...made].join());
  const texts = [prometheusRules(), grafanaDashboard()];
  const named = new Set(
    texts.flatMap((text) =>
      text.match(/(?<![\w/."-])rampkit_[a-z_]+(?=[\[{)\s])/g) ?? []
    ),
  );
  assert.ok(named.size > 14, [...named].join());
  assert.deepEqual([...named].filter((name) => !made.has(name)), []);
});

Deno.test({
  name: "promtool takes the rules, where it is installed",
  ignore: !await isInstalled("promtool"),
  fn: async () => {
    const { code, stdout, stderr } = await new Deno.Command("promtool", {
      args: ["check", "rules", `${root}/daemon/prometheus_rules.yml`],
    }).output();
    const said = new TextDecoder().decode(stdout) +
      new TextDecoder().decode(stderr);
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`${ALARM_CODES.length + 1} rules found`));
  },
});
